package till

import (
	"fmt"
	"testing"
	"time"

	"boon.example/internal/pin"
)

// TestPeople: where the set-up names people, one of them signs in with a PIN before anything is taken, and wrong ones
// are told so. What they did stands under their name; who may not undo is not offered it.
func TestPeople(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	ana, err := pin.Hash("4711")
	if err != nil {
		t.Fatal(err)
	}
	ben, err := pin.Hash("2580")
	if err != nil {
		t.Fatal(err)
	}
	s.apply(fmt.Sprintf(setupFile,
		fmt.Sprintf("    people: [{name: Ana, pin: %q, may: [reverse]}, {name: Ben, pin: %q}]\n",
			ana, ben)))
	d := s.till("Counter 1", s.server.URL)
	d.at("people")
	for _, language := range []string{"de", "es", "en"} {
		d.open("/till?lang=" + language)
		d.at("people")
		d.everyWay(language+" people", func() {})
		d.tap(".names li:nth-child(1) button")
		d.at("pin")
		d.everyWay(language+" pin", func() {})
	}
	d.keypad("4712")
	d.tap(".pin-form .primary")
	d.shows(".pin-form .error", "This is not the PIN.")
	for _, digit := range []int{4, 7, 1, 1} {
		d.tapNow(fmt.Sprintf(".keypad button:nth-of-type(%d)", digit))
	}
	d.tap(".pin-form .primary")
	d.at("home")
	d.shows(".sign-out", "Ana")
	g := s.sell("20")
	d.find(g, "$20.00")
	d.keypad("500")
	d.tap("button.take")
	d.shows("h1", "Taken")
	if d.text(".result .undo") == "" {
		t.Error("Ana may undo, and is not offered it")
	}
	d.tap(".next")
	d.tap(".sign-out")
	d.at("people")
	d.scanner(g.VoucherCode) // nobody is there: nothing happens
	d.at("people")

	d.tap(".names li:nth-child(2) button")
	d.keys("2580\r")
	d.at("home")
	d.find(g, "$15.00")
	d.keys("500\r")
	d.shows("h1", "Taken")
	if d.text(".result .undo") != "" {
		t.Error("Ben may not undo, and is offered it")
	}
	d.tap(".next")
	d.tap(".open-today")
	d.shows(".by-person", "Ana")
	d.shows(".by-person", "Ben")
	d.shows(".totals", "$10.00")
	d.everyWay("today of two", func() {})
	d.tap(".today .back")
	d.tap(".sign-out")
	d.tap(".names li:nth-child(2) button")
	for range 5 {
		d.keys("1111\r")
		d.until("the PIN is still there", `document.querySelector(".pin").value === ""`)
	}
	d.keys("2580\r")
	d.shows(".pin-form .error", "Too many wrong PINs.")
	d.tap(".other")
	d.tap(".names li:nth-child(1) button") // nobody else waits
	d.keys("4711\r")
	d.at("home")

	// those who may sign in do so elsewhere now
	s.apply(fmt.Sprintf(setupFile, fmt.Sprintf("    people: [{name: Ana, pin: %q, locations: [%s]}]\n", ana, wharf)))
	for tries := 0; !js[bool](d, "!!"+visible("section:not([hidden]) .nobody")); tries++ { // it is read within a second
		if tries == 20 {
			d.Fatalf("that nobody may sign in is not told:\n%s", d.text("body"))
		}
		time.Sleep(500 * time.Millisecond)
		d.open("/till")
		d.until("nothing is shown", `(document.body?.dataset.at ?? "wait") !== "wait"`)
	}
	d.everyWay("nobody", func() {})
	d.calm()
}
