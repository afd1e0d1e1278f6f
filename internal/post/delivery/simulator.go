package delivery

import (
	"context"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
)

// The recipients in test accounts of whom is known what becomes of a message to them: addresses in this domain, and
// numbers of North America from 555-0100 to 555-0199, which are nobody's.
const (
	simulator  = "@simulator.boon.example"
	fictitious = "55501"
	simulated  = 15 * time.Minute // for how long a slow one is put off
)

// outcome is what becomes of a message.
type outcome int

const (
	delivered outcome = iota
	bounced           // it does not arrive
	slow              // it arrives at the second attempt
)

// outcomeFor tells what becomes of a message to a contact. All that are not named here get theirs.
func outcomeFor(m contact.Method, to string) outcome {
	if m == contact.SMS {
		number, american := strings.CutPrefix(to, "+1")
		if !american || len(number) != 10 || number[3:8] != fictitious {
			return delivered
		}
		switch number[8:] {
		case "01":
			return bounced
		case "02":
			return slow
		}
		return delivered
	}
	switch strings.ToLower(to) {
	case "bounced" + simulator:
		return bounced
	case "slow" + simulator:
		return slow
	}
	return delivered
}

// simulate keeps the message of a test account, and has become of it what its recipient says.
func simulate(ctx context.Context, keep Carrier, m message.Message, job ledger.Job) error {
	outcome := outcomeFor(m.Method, m.To)
	if outcome == slow && job.Attempts == 0 {
		return &message.Later{Words: "The simulated recipient takes no messages for now.", After: simulated}
	}
	if err := keep.Carry(ctx, m); err != nil {
		return err
	}
	if outcome == bounced {
		return &message.Refusal{Words: "The simulated recipient does not exist."}
	}
	return nil
}
