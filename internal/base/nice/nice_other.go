//go:build !linux

// Package nice has a process leave the cores to others, as nice(1) does, and work within a process that is in no hurry.
package nice

// GiveWay does nothing here: only Linux is told to leave the cores to others.
func GiveWay() {}
