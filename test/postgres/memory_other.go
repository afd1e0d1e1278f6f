//go:build !linux

package main

// inMemory does nothing: files stay where temporary ones go.
func inMemory() (remove func() error, err error) { return func() error { return nil }, nil }
