package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// arguments are as many as a question asks for.
func arguments(question string) []any {
	n := strings.Count(question, "?")
	for strings.Contains(question, fmt.Sprintf("$%d", n+1)) {
		n++
	}
	return make([]any, n)
}

// TestNothingHotReadsAWholeAccount: whatever a group asks is found by a key. An account can have millions of gifts, and while a
// group reads all of them, nobody else redeems.
func TestNothingHotReadsAWholeAccount(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	texts := append(hotTexts(), lookUpTexts...)
	// What the guard on reversals asks.
	texts = append(texts, `SELECT coalesce(sum(x.delta), 0) FROM entry AS x WHERE x.account_id = $1 AND x.reverses = $2`)
	for _, text := range texts {
		if strings.HasPrefix(text, "INSERT") {
			continue // there is nothing to find
		}
		question := anonymous(`EXPLAIN QUERY PLAN ` + text)
		rows, err := s.readers.Query(question, arguments(question)...)
		if err != nil {
			t.Fatal(err)
		}
		err = drain(rows, func(rows *sql.Rows) error {
			var plan string
			err := rows.Scan(new(int), new(int), new(int), &plan)
			if strings.HasPrefix(plan, "SCAN") && plan != "SCAN CONSTANT ROW" || strings.HasSuffix(plan, "(account_id=?)") && !strings.Contains(plan, "tally") {
				t.Errorf("%s\n\t%s", text, plan)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
