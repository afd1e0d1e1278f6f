// Package oapi is a module of its own, so that nothing else needs what a client made by oapi-codegen needs. The
// program is in testdata, for it does not compile before the client is made.
package oapi

import _ "github.com/oapi-codegen/runtime" // which the client uses
