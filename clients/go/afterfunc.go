//go:build go1.21

package sluice

import "context"

// afterFunc calls f once the context ends. stop is whether it prevented that.
func afterFunc(ctx context.Context, f func()) (stop func() bool) { return context.AfterFunc(ctx, f) }
