package channel

// Words is a conversation that keeps the borders of its messages and carries no descriptors. Recv and Send may be called at the same
// time, each by one goroutine.
type Words interface {
	Recv() ([]byte, error)
	Send([]byte) error
}
