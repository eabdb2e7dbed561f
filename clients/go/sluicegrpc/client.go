package sluicegrpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sluice.example/sluice/throttle"
)

const pushbackName = "grpc-retry-pushback-ms"

// ClientConfig is how the interceptors of a client wait. The zero value of each member but Throttle is what it says.
type ClientConfig struct {
	// Throttle is what is known of the servers. Share one to share that. It must not be nil.
	Throttle *throttle.Throttle
	// Resource names what has a quota of its own. nil is target and method.
	Resource func(target, method string) string
	// Idempotent is whether a method may be sent again after UNAVAILABLE. nil is that none may.
	Idempotent func(method string) bool
}

func (c *ClientConfig) start(target, method string) *throttle.Sending {
	resource := target + method
	if c.Resource != nil {
		resource = c.Resource(target, method)
	}
	return c.Throttle.Start(target, resource)
}

func (c *ClientConfig) after(ctx context.Context, sending *throttle.Sending, method string, err error, said ...metadata.MD) throttle.Advice {
	again := c.Idempotent != nil && c.Idempotent(method)
	return sending.After(ctx, responseOf(err, said...), http.MethodPost, again)
}

// UnaryClientInterceptor waits before it sends where a quota is used up, and sends again after RESOURCE_EXHAUSTED or UNAVAILABLE, as
// long as the server says: by RetryInfo, grpc-retry-pushback-ms, or the rate limit fields of HTTP in the header or trailer. Without
// such a time the error is the result at once, because gRPC uses both codes for other things too.
//
// The context's deadline wins. A call that is not sent because of it ends with RESOURCE_EXHAUSTED; errors.As finds a
// *throttle.HeldError in it.
func UnaryClientInterceptor(config ClientConfig) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		options ...grpc.CallOption) error {
		sending := config.start(cc.Target(), method)
		defer sending.Failed()
		for {
			if err := sending.Before(ctx); err != nil {
				return notSent(err)
			}
			var header, trailer metadata.MD
			all := append(append([]grpc.CallOption{}, options...), grpc.Header(&header), grpc.Trailer(&trailer))
			err := invoke(ctx, method, request, reply, cc, all...)
			advice := config.after(ctx, sending, method, err, header, trailer)
			if advice.Action != throttle.Wait {
				return err
			}
			if err := sending.Wait(ctx, advice); err != nil {
				return notSent(err)
			}
		}
	}
}

// StreamClientInterceptor waits before it opens a stream where a quota is used up, and learns from how the stream ends. A stream is not
// opened again: its messages may have been processed.
func StreamClientInterceptor(config ClientConfig) grpc.StreamClientInterceptor {
	return func(ctx context.Context, description *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer,
		options ...grpc.CallOption) (grpc.ClientStream, error) {
		sending := config.start(cc.Target(), method)
		if err := sending.Before(ctx); err != nil {
			return nil, notSent(err)
		}
		stream, err := open(ctx, description, cc, method, options...)
		if err != nil {
			config.after(ctx, sending, method, err)
			return nil, err
		}
		watched := &learning{ClientStream: stream, oneReply: !description.ServerStreams, done: make(chan struct{})}
		watched.learn = func(err error) {
			header, _ := stream.Header() // If it fails, the trailer says all.
			config.after(ctx, sending, method, err, header, stream.Trailer())
		}
		go func() { // A stream whose context ends need not be read to its end.
			select {
			case <-ctx.Done():
				watched.end(sending.Failed)
			case <-watched.done:
			}
		}()
		return watched, nil
	}
}

// learning is a stream whose end says something about a limit.
type learning struct {
	grpc.ClientStream
	oneReply bool
	learn    func(error)
	once     sync.Once
	done     chan struct{}
}

func (l *learning) end(how func()) {
	l.once.Do(func() {
		close(l.done)
		how()
	})
}

func (l *learning) RecvMsg(into any) error {
	err := l.ClientStream.RecvMsg(into)
	if err != nil || l.oneReply {
		l.end(func() {
			if errors.Is(err, io.EOF) {
				l.learn(nil)
			} else {
				l.learn(err)
			}
		})
	}
	return err
}

// responseOf is the outcome of a call as an HTTP server would have answered it.
func responseOf(err error, said ...metadata.MD) throttle.Response {
	header := http.Header{}
	for _, fields := range said {
		for name, values := range fields {
			if !strings.HasPrefix(name, "grpc-") && !strings.HasSuffix(name, "-bin") && header.Get(name) == "" {
				header[http.CanonicalHeaderKey(name)] = values
			}
		}
		for _, pushback := range fields.Get(pushbackName) {
			if ms, err := strconv.ParseInt(pushback, 10, 32); err == nil && ms >= 0 {
				header.Set("Retry-After-Ms", strconv.FormatInt(ms, 10))
			} else {
				header.Set("X-Should-Retry", "false")
			}
		}
	}
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok && retry.GetRetryDelay().AsDuration() > 0 {
			ms := (retry.GetRetryDelay().AsDuration() + time.Millisecond - 1) / time.Millisecond
			header.Set("Retry-After-Ms", strconv.FormatInt(int64(ms), 10))
		}
	}
	response := throttle.Response{Status: http.StatusOK, Header: header}
	refusal := map[codes.Code]int{codes.ResourceExhausted: http.StatusTooManyRequests, codes.Unavailable: http.StatusServiceUnavailable}
	if refused := refusal[status.Code(err)]; refused != 0 {
		// Whether the server said a time, or that waiting does not help.
		response.Status = refused
		advice := throttle.Advise(response, throttle.Call{Now: time.Now()}, throttle.DefaultPolicy())
		if advice.Source == "backoff" {
			response.Status = http.StatusOK
		}
	}
	return response
}

// notSent is an error of this side as a status of gRPC.
func notSent(err error) error {
	var held *throttle.HeldError
	if errors.As(err, &held) {
		return heldStatus{held}
	}
	return status.FromContextError(err).Err()
}

type heldStatus struct{ *throttle.HeldError }

func (h heldStatus) Unwrap() error { return h.HeldError }

// GRPCStatus is what status.FromError finds.
func (h heldStatus) GRPCStatus() *status.Status {
	return status.New(codes.ResourceExhausted, h.Error())
}
