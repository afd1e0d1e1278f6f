package service

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// alone is a service without an engine and a store, and what it noted.
func alone() (s *Service, noted *Event) {
	noted = &Event{}
	s = New(Config{Note: func(_ context.Context, e Event) { *noted = e }})
	s.Directory = func() *gift.Directory { return &gift.Directory{} }
	return s, noted
}

// TestNeitherAnswerNorError: a handler that forgets both is a failure of ours, told as one, and never a status of 0.
func TestNeitherAnswerNorError(t *testing.T) {
	t.Parallel()
	s, noted := alone()
	answer := httptest.NewRecorder()
	s.Handler(func(c *Call) Reply { return c.Reply(ledger.Answer{}, nil) }).
		ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"UNEXPECTED_ERROR"`) ||
		noted.Err == nil {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}

// TestPanics: a handler that panics is a failure of ours, told as one, and the next call is answered.
func TestPanics(t *testing.T) {
	t.Parallel()
	s, noted := alone()
	answer := httptest.NewRecorder()
	s.Handler(func(*Call) Reply { panic("broken") }).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "broken") ||
		noted.Err == nil || !strings.Contains(noted.Err.Error(), "panic: broken") {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}
