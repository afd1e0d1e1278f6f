package merchant

import "boon.example/internal/guid"

// Program is one of the gifting programs of the interface, section 2.8.
type Program struct {
	ID          guid.ID
	Name        string
	Promotional bool
}

// The programs. There are no others.
var (
	BusinessProgram     = Program{programID(0x22), "Business gift cards", false}
	PromotionalProgram  = Program{programID(0x33), "Promotional gift cards", true}
	DistributionProgram = Program{programID(0x55), "Distribution network", false}
)

func programID(b byte) (id guid.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}

// ProgramIDs lists the programs.
func ProgramIDs() []guid.ID {
	return []guid.ID{BusinessProgram.ID, PromotionalProgram.ID, DistributionProgram.ID}
}

// ProgramByID finds a program.
func ProgramByID(id guid.ID) (Program, bool) {
	for _, p := range []Program{BusinessProgram, PromotionalProgram, DistributionProgram} {
		if p.ID == id {
			return p, true
		}
	}
	return Program{}, false
}
