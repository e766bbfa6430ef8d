package plan

import "testing"

func TestNoFreshProcNamesTheCauseAndTheWaysOut(t *testing.T) {
	const want = "start the sandbox: the kernel allows no fresh /proc, because /proc/kcore of this one is covered, as containers do"
	const hint = "let the container show all of /proc (docker run --security-opt systempaths=unconfined, podman run --security-opt unmask=ALL), or set " +
		"enableWeakerNestedSandbox: the kernel allows no fresh /proc in this container: the command sees the names and command lines of all its " +
		"processes, unix sockets are refused, and missing protected paths are only checked after the run"
	if f := NoFreshProc("/proc/kcore"); f.Error() != want || f.Hint != hint {
		t.Errorf("%v (%s)", f, f.Hint)
	}
}
