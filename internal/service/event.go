package service

import (
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Event is what one request came to, for the log line and the metrics of the server around. It holds no secret.
type Event struct {
	RequestID  string
	AccountID  guid.ID      // zero: nobody's
	KeyID      guid.ID      // zero: no valid key was shown
	KeyName    string       // as the set-up calls it
	Person     string       // who is signed in at the till; "": nobody
	LocationID guid.ID      // that the request names or that follows from the key; zero: none
	Code       refusal.Code // "" on success
	Codes      int          // how many codes the answer showed to a key that may see them
	Warning    string       // what looks wrong with it though it was carried out; "": nothing
	DryRun     bool         // nothing was done, as the caller asked for
	Overloaded bool         // it was not admitted
	Rehearsed  bool         // it failed as a test account asked for
	Err        error        // what lies behind an UNEXPECTED_ERROR or UNAVAILABLE; never shown to the caller
}
