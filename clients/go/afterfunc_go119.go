//go:build !go1.21

package sluice

import "context"

// afterFunc calls f once the context ends. stop is whether it prevented that.
func afterFunc(ctx context.Context, f func()) (stop func() bool) {
	stopped, ran := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-ctx.Done():
			f()
			ran <- true
		case <-stopped:
			ran <- false
		}
	}()
	return func() bool {
		close(stopped)
		return !<-ran
	}
}
