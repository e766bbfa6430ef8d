package pathrule

// LateReads gives the read denials by pattern that also hold for what appears later; none without Options.LateReads.
func (p *Policy) LateReads() []LiveGlob { return p.lateReads }
