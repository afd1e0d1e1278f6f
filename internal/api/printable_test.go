package api_test

import "testing"

// TestNotPrintable: send-gift tells of each printed gift which of its texts have characters that no font has, and of
// others nothing; a repeat of the call is told the same.
func TestNotPrintable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"itemGift":{"label":"Café","terms":"朝顔","quantity":2,"deliveryMethodID":3,"senderDescription":"Žofie"},` +
		`"recipients":[{"recipientDescription":"السلام","message":"שלום"},{"recipientDescription":"朝顔","message":"one\n🎂 ` +
		`朝"},{"recipientDescription":"朝顔","deliveryMethodID":1,"recipientContact":"ana@example.com"}],` + purchase + `}`
	for range 2 {
		w.post("send-gift", body, once("print")...).want(201, "gifts[0].notPrintable", `["terms"]`,
			"gifts[1].notPrintable", `["recipientDescription","message","terms"]`, "gifts[2].notPrintable", "[]")
	}
	w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"senderDescription":"朝",`+purchase+`}`).want(201,
		"gifts[0].notPrintable", `["senderDescription"]`)
}
