package seccomp

// callX32 has nothing to call: arm64 has one table only.
func callX32() {}
