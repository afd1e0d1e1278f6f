package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/ledger"
)

// TestNeitherAnswerNorError: a handler that forgets both is a failure of ours, told as one, and never a status of 0.
func TestNeitherAnswerNorError(t *testing.T) {
	t.Parallel()
	noted := Event{}
	a := New(Config{Note: func(_ context.Context, e Event) { noted = e }})
	answer := httptest.NewRecorder()
	a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, nil }).
		ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"UNEXPECTED_ERROR"`) ||
		noted.Err == nil {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}
