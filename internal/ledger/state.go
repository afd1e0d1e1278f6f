package ledger

// state is what a group of commands works on: what was loaded, and what has been decided so far.
type state struct {
	*State
	changes Changes
}
