package staff

import (
	"time"

	"github.com/google/uuid"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// Notice is a mail to a member of the staff: somebody signed in under their name on a device that was not used for that
// before. It is stored as JSON: members may be added, and none may be renamed.
type Notice struct {
	ID        guid.ID           `json:"id"`
	AccountID guid.ID           `json:"accountID"`
	Email     string            `json:"email"`
	Name      string            `json:"name"`
	Language  merchant.Language `json:"language,omitempty"`
	Device    string            `json:"device"`  // what the browser says that it is
	Address   string            `json:"address"` // where it was
	At        time.Time         `json:"at"`
	Attempts  int               `json:"attempts,omitempty"` // at sending it
}

// Notice makes a mail about a session that the member begins.
func (m *Member) Notice(s *Session) Notice {
	return Notice{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: m.AccountID, Email: m.Email, Name: m.Name,
		Language: m.Language, Device: s.Device, Address: s.Address, At: s.SeenAt}
}
