package journal

import "bytes"

// proofLine begins the last line of a journal whose format has comments.
const proofLine = "\n; proof: "

// WithProof is a written journal with what proves it as its last line, where the format has comments. Programs that
// read the other formats would take such a line for an entry.
func WithProof(format Format, file, proof []byte) []byte {
	if format != HLedger {
		return file
	}
	return bytes.Join([][]byte{file, []byte(proofLine[1:]), proof, []byte("\n")}, nil)
}

// Proof parts a journal from the line that proves it, if it has one.
func Proof(file []byte) (content, proof []byte) {
	content, proof, found := bytes.Cut(file, []byte(proofLine))
	if !found {
		return file, nil
	}
	return append(content[:len(content):len(content)], '\n'), bytes.TrimSuffix(proof, []byte("\n"))
}

// Same reports whether two files of a format are the same journal: they are the same to the byte, but for when a file
// for DATEV was made, and for what proves the journal.
func Same(format Format, a, b []byte) bool {
	switch format {
	case HLedger:
		a, _ = Proof(a)
		b, _ = Proof(b)
	case DATEV:
		return sameDATEV(a, b)
	}
	return bytes.Equal(a, b)
}
