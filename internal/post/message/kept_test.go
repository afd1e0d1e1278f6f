package message

import (
	"encoding/json"
	"image/color"
	"reflect"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// released is a message as earlier releases keep it.
const released = `{"ID":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"GiftID":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2],` +
	`"AccountID":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3],"Method":1,"Language":"de","To":"dad@example.com","ToName":"Dad",` +
	`"FromName":"Ann","Subject":"A gift","Text":"Hello","HTML":"","QR":null,"Pictures":[{"ContentID":"card@gift",` +
	`"Asset":[9,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"Ground":{"R":1,"G":2,"B":3,"A":4},` +
	`"Kind":"image/png","Bytes":null,"Width":600,"Height":300}],"At":"2026-11-21T12:00:00Z"}`

// TestKeptMessage: a message that is kept is read again, by this program and by those before it.
func TestKeptMessage(t *testing.T) {
	t.Parallel()
	m := Message{ID: guid.ID{15: 1}, GiftID: guid.ID{15: 2}, AccountID: guid.ID{15: 3}, Method: contact.Email,
		Language: merchant.German, To: "dad@example.com", ToName: "Dad", FromName: "Ann", Subject: "A gift", Text: "Hello",
		Pictures: []Picture{{ContentID: "card@gift", Asset: merchant.AssetHash{9}, Ground: color.NRGBA{1, 2, 3, 4},
			Kind: "image/png", Width: 600, Height: 300}}, At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	var read Message
	if err := json.Unmarshal([]byte(released), &read); err != nil || !reflect.DeepEqual(read, m) {
		t.Errorf("%v, read %+v", err, read)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var is, want map[string]any
	if err := json.Unmarshal(text, &is); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(released), &want); err != nil || !reflect.DeepEqual(is, want) {
		t.Errorf("%v, kept as %s\nwant %s", err, text, released)
	}
}
