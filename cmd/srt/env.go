package main

// env is the command's environment.
func (j *job) env() []string { return append([]string{}, j.ctx.Env...) }
