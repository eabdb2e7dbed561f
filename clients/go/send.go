package sluice

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"
)

// send fails with an *UnavailableError if the breaker is open or the time is over, and with the context's error if that ended.
func (c *Client) send(ctx context.Context, request []byte, timeout time.Duration, attempts int) (*reply, error) {
	if !c.breaker.allows() {
		return nil, &UnavailableError{errors.New("Sluice did not answer lately")}
	}
	if timeout <= 0 {
		timeout = c.timeout
	}
	now := time.Now()
	end := now.Add(timeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	for ; ; attempts-- {
		// Each attempt has its part of the time, so that a lost packet leaves time for another.
		got, err := c.sendOnce(ctx, request, now.Add(end.Sub(now)/time.Duration(attempts)))
		if err == nil {
			c.heard(got)
			return got, nil
		}
		now = time.Now()
		if ended := contextError(ctx, now); ended != nil {
			return nil, ended // The caller's time is over. That says nothing about Sluice.
		}
		if attempts > 1 && now.Before(end) {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("timed out")
		}
		if c.breaker.failed() {
			c.logf("sluice: Sluice does not answer (%v): requests are decided without it", err)
		}
		return nil, &UnavailableError{err}
	}
}

// contextError is the context's error. A connection's timer may end a moment before that of the context's deadline.
func contextError(ctx context.Context, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !now.Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

func (c *Client) sendOnce(ctx context.Context, request []byte, until time.Time) (*reply, error) {
	connection, err := c.pool.take(ctx, until)
	if err != nil {
		return nil, err
	}
	got, reusable, err := connection.exchange(ctx, request, until)
	if err != nil || !reusable {
		connection.Close()
	} else {
		c.pool.give(connection)
	}
	return got, err
}

// heard tells the breaker about a response.
func (c *Client) heard(got *reply) {
	if notOurs(got.status) && !bytes.Contains(got.body, []byte(`"allowed"`)) {
		if c.breaker.failed() {
			c.logf("sluice: Sluice does not answer (status %d): requests are decided without it", got.status)
		}
	} else if c.breaker.succeeded() {
		c.logf("sluice: Sluice answers again")
	}
}
