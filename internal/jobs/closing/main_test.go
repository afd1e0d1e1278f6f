package closing_test

import (
	"os"
	"testing"

	"boon.example/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
