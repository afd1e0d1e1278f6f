package api_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestSwappedCodes: somebody who can write to the database makes the code of a cheap gift lead to a dear one. The
// code then opens neither, in no call, and the operator learns which gift it was.
func TestSwappedCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cheap, dear := w.send(ofMoney("1")), w.send(ofMoney("500"))
	swapCodes(t, w, cheap.id, dear.id)
	for _, operation := range []string{"validate-gift", "redeem-gift"} {
		r := w.post(operation, `{"voucherCode":"`+cheap.code+`","organizationID":"`+pier+`"}`).refused(500,
			refusal.UnexpectedError)
		if strings.Contains(string(r.body), dear.id) {
			t.Errorf("%s tells of the other gift: %s", operation, r.body)
		}
	}
	if e := w.lastEvent(); e.Err == nil || !strings.Contains(e.Err.Error(), dear.id) || !strings.Contains(e.Err.Error(),
		"boon verify") {
		t.Errorf("the operator learns %v", e.Err)
	}
	w.post("validate-gift", `{"voucherPublicToken":"`+dear.token+`","organizationID":"`+pier+`"}`).want(200, "voucherID",
		dear.id, "currentBalance", "500.00")
}

func (w *world) lastEvent() service.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events[len(w.events)-1]
}

// tables opens the database, past the service.
func (w *world) tables() *sql.DB {
	w.Helper()
	driver, address := "sqlite", filepath.Join(w.dir, "boon.db")
	if w.database != "" {
		driver, address = "pgx", w.database
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		w.Fatal(err)
	}
	return db
}

// swapCodes exchanges what the codes of two gifts lead to, past the service.
func swapCodes(t *testing.T, w *world, a, b string) {
	t.Helper()
	db := w.tables()
	defer db.Close()
	var hashes, accounts [2][]byte
	ids := []guid.ID{id(a), id(b)}
	for i := range ids {
		err := db.QueryRow(`DELETE FROM secret WHERE voucher_id = $1 AND kind = 'code' RETURNING hash, account_id`,
			ids[i][:]).Scan(&hashes[i], &accounts[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range ids {
		_, err := db.Exec(`INSERT INTO secret (hash, kind, account_id, voucher_id) VALUES ($1, 'code', $2, $3)`, hashes[i],
			accounts[1-i], ids[1-i][:])
		if err != nil {
			t.Fatal(err)
		}
	}
}
