package locale_test

import (
	"testing"

	"boon.example/internal/base/phrase"
	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// TestKeptSentences: sentences of the audit trail are said in each language, whatever the names in them are, also those
// that are put together elsewhere.
func TestKeptSentences(t *testing.T) {
	t.Parallel()
	const of phrase.Kept = "account %s: %v"
	usd, err := money.ParseCurrency("USD")
	if err != nil {
		t.Fatal(err)
	}
	for kept, want := range map[string][2]string{
		"Ann removed Ben O'Neill <b> from the staff": {"Ann hat Ben O'Neill <b> aus dem Team entfernt",
			"Ann quitó a Ben O'Neill <b> del personal"},
		"account Harbor: changed name from A to B": {"Konto Harbor: Name: B statt A",
			"Cuenta Harbor: Nombre: B en lugar de A"},
		"account Harbor: added location to be or to": {"Konto Harbor: hinzugefügt: Standort to be or to",
			"Cuenta Harbor: añadido: el establecimiento to be or to"},
		"account A: changed location B: name from C to D to E": {},
		"the PIN of Ana is paused after 50 wrong ones at all tills, the last of them at till Bar": {
			"die PIN von Ana ruht nach 50 falschen an allen Kassen, zuletzt an der Kasse Bar",
			"el PIN de Ana queda en pausa tras 50 incorrectos en todas las cajas, el último en la caja Bar"},
		"account A: added key k (1), which may: redeem, from everywhere; agent: read": {
			"Konto A: Schlüssel k hinzugefügt, darf: NEHMEN, von everywhere; Agent: read",
			"Cuenta A: clave k añadida, puede: NEHMEN, desde everywhere; agente: read"},
		"account A: added key k (redeem)": {
			"Konto A: Schlüssel k hinzugefügt (NEHMEN)",
			"Cuenta A: clave k añadida (NEHMEN)"},
		"account A: changed key k: permissions from codes, redeem to redeem": {
			"Konto A: Schlüssel k: Rechte: NEHMEN statt CODES, NEHMEN",
			"Cuenta A: clave k: permisos: NEHMEN en lugar de CODES, NEHMEN"},
		"account A: changed person redeem: permissions from none to redeem": {
			"Konto A: Person redeem: Rechte: NEHMEN statt nichts",
			"Cuenta A: la persona redeem: permisos: NEHMEN en lugar de nada"},
		"Ann made Ben, who was cashier at Bar, Pier, manager": {
			"Ann hat Ben eine andere Rolle gegeben: Leitung statt Kasse an Bar, Pier",
			"Ann cambió el rol de Ben: gerente en lugar de cajero en Bar, Pier"},
		books.SayBooked(guid.ID{1}, []books.Booked{{Month: 202601, Rate: 1250, Amount: 5, Currency: usd, KeyID: guid.ID{2},
			ProgramID: guid.ID{3}}}): {
			"Verfall für 2026-01 gebucht, am 0001-01-01T00:00:00Z mit dem Schlüssel 02000000-0000-0000-0000-000000000000, " +
				"zum Satz von 12.50 Prozent: 0.05 USD im Programm 03000000-0000-0000-0000-000000000000",
			"breakage de 2026-01 contabilizado el 0001-01-01T00:00:00Z con la clave 02000000-0000-0000-0000-000000000000, " +
				"al tipo del 12.50 por ciento: 0.05 USD del programa 03000000-0000-0000-0000-000000000000"},
		"something that nobody knows": {},
		of.Say("A", "nothing known"):  {},
	} {
		for n, l := range []merchant.Language{merchant.German, merchant.Spanish} {
			names := map[string]string{"name": [2]string{"Name", "Nombre"}[n]}
			may := map[string]string{"redeem": "NEHMEN", "codes": "CODES"}
			said, ok := locale.Kept(l).With(names).Naming(may).Say(kept, func(value string, _ bool) string { return value })
			if ok != (want[n] != "") || ok && said != want[n] {
				t.Errorf("%q in %s, %t: %q", kept, l, ok, said)
			}
		}
	}
}

// TestKeptInEnglish: in English too, people are told no ids of what has a name.
func TestKeptInEnglish(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]string{
		"revoked key web (0199b000-0000-7000-8000-000000000001)": "revoked key web",
		"added key web (codes, redeem)":                          "added key web (CODES, NEHMEN)",
		"set the PIN of Ann":                                     "set the PIN of Ann",
	} {
		book := locale.Kept(merchant.English).Naming(map[string]string{"redeem": "NEHMEN", "codes": "CODES"})
		if said, ok := book.Say(kept, func(value string, _ bool) string { return value }); !ok || said != want {
			t.Errorf("%q, %t: %q", kept, ok, said)
		}
	}
}
