package sluice

import "fmt"

// UnavailableError says that Sluice did not answer in time, or not as Sluice does. Check never returns it: its fail mode decides.
type UnavailableError struct{ Cause error }

func (e *UnavailableError) Error() string { return "Sluice is unavailable: " + e.Cause.Error() }

// Unwrap is the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// CallError says that Sluice refused the call itself. The program or its configuration is wrong, and a retry does not help.
type CallError struct {
	// Status of HTTP, such as 400 or 401; 0 if the call could not be written.
	Status int
	// Code is for programs, such as "invalid_cost". Detail is for people.
	Code, Detail string
}

func (e *CallError) Error() string {
	return fmt.Sprintf("Sluice refused the call: %d %s: %s", e.Status, e.Code, e.Detail)
}

// DeniedError says that a request may not pass now. Its Decision says why, and when it may.
type DeniedError struct{ Decision *Decision }

func (e *DeniedError) Error() string { return e.Decision.Why() }
