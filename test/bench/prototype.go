package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/store/db"
)

// prototype does only what durability needs of a redemption: it reads one JSON object, and commits one entry, one
// balance and one key, together with those of all calls that came during the last commit. It has no account, no rule,
// no hash chain and no event. What a redemption of boon takes beside it is what these cost.
type prototype struct {
	db        *sql.DB
	mu        sync.Mutex
	waiting   []*prototypeCall
	committer bool
}

// prototypeCall is a redemption that is not committed yet.
type prototypeCall struct {
	id     uuid.UUID
	key    string
	amount int64
	left   int64
	err    error
	done   chan struct{}
}

const prototypeSchema = `
	CREATE TABLE balance (id BLOB PRIMARY KEY, code TEXT NOT NULL UNIQUE, amount INTEGER NOT NULL) STRICT, WITHOUT ROWID;
	CREATE TABLE entry (id BLOB PRIMARY KEY, gift BLOB NOT NULL, amount INTEGER NOT NULL, made_at INTEGER NOT NULL)
		STRICT, WITHOUT ROWID;
	CREATE TABLE request (key TEXT PRIMARY KEY, answer BLOB NOT NULL) STRICT, WITHOUT ROWID`

// prototypeServer serves a prototype in a folder, with the limits of the empty handler.
func prototypeServer(dir string) (*http.Server, error) {
	pool, err := sql.Open("sqlite", db.SQLiteDSN(filepath.Join(dir, "prototype.db")))
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(prototypeSchema); err != nil {
		return nil, err
	}
	p := &prototype{db: pool}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/integration/gifting/send-gift", p.send)
	mux.HandleFunc("POST /api/integration/redemption/validate-gift", p.validate)
	mux.HandleFunc("POST /api/integration/redemption/redeem-gift", p.redeem)
	srv := emptyServer()
	srv.Handler = mux
	return srv, nil
}

// prototypeAsk is every request of a prototype.
type prototypeAsk struct {
	VoucherID   uuid.UUID         `json:"voucherID"`
	VoucherCode string            `json:"voucherCode"`
	Amount      float64           `json:"amount"`
	Recipients  []json.RawMessage `json:"recipients"`
}

func readAsk(w http.ResponseWriter, r *http.Request) (ask prototypeAsk, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return ask, err == nil
}

// send makes gifts.
func (p *prototype) send(w http.ResponseWriter, r *http.Request) {
	ask, ok := readAsk(w, r)
	if !ok {
		return
	}
	type made struct {
		ID   uuid.UUID `json:"voucherID"`
		Code string    `json:"voucherCode"`
	}
	all := make([]made, len(ask.Recipients))
	tx, err := p.db.Begin()
	if err == nil {
		defer tx.Rollback()
		var n int
		err = tx.QueryRow(`SELECT count(*) FROM balance`).Scan(&n)
		for i := range all {
			all[i] = made{uuid.Must(uuid.NewV7()), strconv.Itoa(100_000_000_000 + n + i)}
			_, insertErr := tx.Exec(`INSERT INTO balance VALUES ($1, $2, 1000000000)`, all[i].ID[:], all[i].Code)
			err = errors.Join(err, insertErr)
		}
		err = errors.Join(err, tx.Commit())
	}
	answer(w, http.StatusCreated, map[string]any{"gifts": all}, err)
}

func (p *prototype) validate(w http.ResponseWriter, r *http.Request) {
	ask, ok := readAsk(w, r)
	if !ok {
		return
	}
	var amount int64
	err := p.db.QueryRow(`SELECT amount FROM balance WHERE code = $1`, ask.VoucherCode).Scan(&amount)
	answer(w, http.StatusOK, map[string]any{"balance": amount}, err)
}

// redeem waits for the commit that its call is in.
func (p *prototype) redeem(w http.ResponseWriter, r *http.Request) {
	ask, ok := readAsk(w, r)
	if !ok {
		return
	}
	if ask.VoucherCode != "" {
		var id []byte
		if err := p.db.QueryRow(`SELECT id FROM balance WHERE code = $1`, ask.VoucherCode).Scan(&id); err != nil {
			answer(w, http.StatusNotFound, nil, err)
			return
		}
		ask.VoucherID = uuid.UUID(id)
	}
	call := &prototypeCall{id: ask.VoucherID, key: r.Header.Get("Idempotency-Key"), amount: int64(ask.Amount*100 + 0.5),
		done: make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, call)
	if !p.committer {
		p.committer = true
		go p.commit()
	}
	p.mu.Unlock()
	<-call.done
	answer(w, http.StatusOK, map[string]any{"balance": call.left}, call.err)
}

// commit commits what waits, until nothing does.
func (p *prototype) commit() {
	for {
		p.mu.Lock()
		all := p.waiting
		p.waiting, p.committer = nil, len(all) > 0
		p.mu.Unlock()
		if len(all) == 0 {
			return
		}
		err := p.group(all)
		for _, call := range all {
			call.err = err
			close(call.done)
		}
	}
}

// group writes a group of redemptions in one transaction.
func (p *prototype) group(all []*prototypeCall) error {
	tx, err := p.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var prepared [3]*sql.Stmt
	for i, text := range []string{`UPDATE balance SET amount = amount - $1 WHERE id = $2 RETURNING amount`,
		`INSERT INTO entry VALUES ($1, $2, $3, $4)`, `INSERT INTO request VALUES ($1, $2)`} {
		statement, err := tx.Prepare(text)
		if err != nil {
			return err
		}
		defer statement.Close()
		prepared[i] = statement
	}
	for _, call := range all {
		id := uuid.Must(uuid.NewV7())
		if err := prepared[0].QueryRow(call.amount, call.id[:]).Scan(&call.left); err != nil {
			return err
		}
		if _, err := prepared[1].Exec(id[:], call.id[:], -call.amount, time.Now().UnixMicro()); err != nil {
			return err
		}
		if _, err := prepared[2].Exec(call.key, fmt.Appendf(nil, `{"balance":%d}`, call.left)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func answer(w http.ResponseWriter, status int, body any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
