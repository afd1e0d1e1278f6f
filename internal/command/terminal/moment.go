package terminal

import (
	"fmt"
	"reflect"
	"time"

	"github.com/alecthomas/kong"
)

// moments are the forms of a time on the command line. One without a zone is in that of this machine, and a date alone
// is its first moment there.
var moments = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05", "2006-01-02 15:04", printed, time.DateOnly}

// printed is the form in which times are told to people, to the minute, with the offset of their zone.
const printed = "2006-01-02 15:04Z07:00"

// Moment writes a time for people, in the time zone of this machine; "": there is none.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(printed)
}

// parseMoment reads a time as a person writes it.
func parseMoment(text string, here *time.Location) (time.Time, error) {
	for _, form := range moments {
		if at, err := time.ParseInLocation(form, text, here); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write a date such as 2026-11-22, with a time such as "+
		"\"2026-11-22 18:00\" (in the time zone of this machine), or with a zone such as 2026-11-22T18:00:00Z", text)
}

// ReadMoment reads the time of a flag.
func ReadMoment(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	at, err := parseMoment(text, time.Local)
	if err != nil {
		return err
	}
	target.Set(reflect.ValueOf(at))
	return nil
}
