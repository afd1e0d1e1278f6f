// Package wire is how values stand in a request and in an answer: it reads JSON and the query of an address strictly,
// and collects every problem with its path; it writes JSON; and it makes the text of a request over which its
// fingerprint is reckoned.
//
// It knows the values of package gift, and neither HTTP nor what a request is about.
package wire
