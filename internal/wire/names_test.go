package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/internal/refusal"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for field, want := range map[refusal.Field]string{
		"": "", refusal.FieldAmount: "amount", refusal.FieldLocation: "organizationID",
		refusal.FieldLocation.In(refusal.FieldItem):                    "itemGift.organizationID",
		refusal.FieldContact.In(refusal.FieldRecipients.At(12)):        "recipients[12].recipientContact",
		refusal.FieldMessage.In(refusal.FieldRecipients.At(0)).In("x"): "x.recipients[0].message",
	} {
		if got := Path(field); got != want {
			t.Errorf("%s is at %s, want %s", field, got, want)
		}
	}
}

// TestGiftHasNoJSONNames: what the interface calls a field otherwise than package gift stands in names alone.
func TestGiftHasNoJSONNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../gift/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	check := func(text string) {
		for _, name := range names {
			if strings.Contains(text, name) && name != names[refusal.FieldKey] { // a header, and the field's word for a key
				t.Errorf("package gift says %s", text)
			}
		}
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Comments {
			check(group.Text())
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok {
				check(literal.Value)
			}
			return true
		})
	}
}
