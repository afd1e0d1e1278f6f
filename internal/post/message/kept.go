package message

import "encoding/json"

// kept is a Message as every release keeps it: ids and hashes are lists of numbers. Members may be added, and none may
// be changed.
type kept struct {
	*plain
	ID, GiftID, AccountID [16]byte
	Pictures              []keptPicture
}

// plain is a Message without its methods, and keptPicture a Picture whose hash is a list of numbers.
type (
	plain       Message
	keptPicture struct {
		Picture
		Asset [32]byte
	}
)

// MarshalJSON writes the message for keeping.
func (m Message) MarshalJSON() ([]byte, error) {
	k := kept{plain: (*plain)(&m), ID: m.ID, GiftID: m.GiftID, AccountID: m.AccountID}
	for _, p := range m.Pictures {
		k.Pictures = append(k.Pictures, keptPicture{p, p.Asset})
	}
	return json.Marshal(k)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(text []byte) error {
	k := kept{plain: (*plain)(m)}
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	m.ID, m.GiftID, m.AccountID, m.Pictures = k.ID, k.GiftID, k.AccountID, nil
	for _, p := range k.Pictures {
		p.Picture.Asset = p.Asset
		m.Pictures = append(m.Pictures, p.Picture)
	}
	return nil
}
