package sluicegrpc

import (
	"context"
	"errors"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.example/sluice"
	"sluice.example/sluice/internal/testdaemon"
	"sluice.example/sluice/throttle"
)

const (
	patient = 20 * time.Second
	method  = "/grpc.health.v1.Health/Check"
	rules   = `
rules:
  - {id: calls, match: {endpoint: ` + method + `}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: watch, match: {endpoint: /grpc.health.v1.Health/Watch}, key_pattern: "ip:{ip}", algorithm: concurrency, limit: 1, hold_ttl: 30s}
  - {id: quick, match: {endpoint: /quick}, key_pattern: "ip:{ip}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
  - {id: never, match: {endpoint: /never}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 0, window: 1m}
`
)

// serve starts a health server with interceptors, and connects to it.
func serve(t *testing.T, server []grpc.ServerOption, client ...grpc.DialOption) healthpb.HealthClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(server...)
	healthpb.RegisterHealthServer(s, health.NewServer())
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	connection, err := grpc.NewClient(listener.Addr().String(), append(client, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return healthpb.NewHealthClient(connection)
}

func limited(t *testing.T, config ServerConfig) (*sluice.Client, []grpc.ServerOption) {
	t.Helper()
	daemon := testdaemon.Start(t, rules)
	c, err := sluice.New(sluice.Config{URL: daemon.URL, Timeout: patient, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, []grpc.ServerOption{
		grpc.UnaryInterceptor(UnaryServerInterceptor(c, config)), grpc.StreamInterceptor(StreamServerInterceptor(c, config)),
	}
}

// as is a server whose calls have the attributes of an endpoint.
func as(endpoint string) ServerConfig {
	return ServerConfig{Attributes: func(ctx context.Context, _ string, _ any) sluice.Attributes {
		return CallAttributes(ctx, endpoint, nil)
	}}
}

func pacing(policy throttle.Policy) []grpc.DialOption {
	config := ClientConfig{Throttle: throttle.New(policy)}
	return []grpc.DialOption{
		grpc.WithUnaryInterceptor(UnaryClientInterceptor(config)), grpc.WithStreamInterceptor(StreamClientInterceptor(config)),
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	t.Cleanup(cancel)
	return ctx
}

func call(ctx context.Context, c healthpb.HealthClient, options ...grpc.CallOption) error {
	_, err := c.Check(ctx, &healthpb.HealthCheckRequest{}, options...)
	return err
}

func TestServerAllowsAndDenies(t *testing.T) {
	_, options := limited(t, ServerConfig{})
	c := serve(t, options)
	for left := 1; left >= 0; left-- {
		var header metadata.MD
		if err := call(within(t), c, grpc.Header(&header)); err != nil || header.Get("x-ratelimit-remaining")[0] != strconv.Itoa(left) {
			t.Fatal(err, header)
		}
	}
	var trailer metadata.MD
	err := call(within(t), c, grpc.Trailer(&trailer))
	said := status.Convert(err)
	if said.Code() != codes.ResourceExhausted || !strings.HasPrefix(said.Message(), "rate limit: quota_exceeded; again in ") {
		t.Error(err)
	}
	ms, _ := strconv.Atoi(trailer.Get(pushbackName)[0])
	if ms <= 0 || trailer.Get("ratelimit") == nil || trailer.Get("retry-after") == nil {
		t.Error(trailer)
	}
	reason, _ := said.Details()[0].(*errdetails.ErrorInfo)
	retry, _ := said.Details()[1].(*errdetails.RetryInfo)
	if reason.GetReason() != "QUOTA_EXCEEDED" || reason.GetDomain() != "sluice" || retry.GetRetryDelay().AsDuration() <= 0 {
		t.Error(said.Details())
	}
}

func TestServerSaysThatWaitingDoesNotHelp(t *testing.T) {
	_, options := limited(t, as("/never"))
	var trailer metadata.MD
	err := call(within(t), serve(t, options, pacing(throttle.DefaultPolicy())...), grpc.Trailer(&trailer))
	if status.Convert(err).Message() != "rate limit: limit_zero" || trailer.Get(pushbackName)[0] != "-1" {
		t.Error(err, trailer)
	}
}

func TestServerHoldsASlotWhileAStreamLasts(t *testing.T) {
	client, options := limited(t, ServerConfig{})
	c := serve(t, options)
	ctx, cancel := context.WithCancel(within(t))
	stream, err := c.Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stream.Recv(); err != nil {
		t.Fatal(err)
	}
	second, err := c.Watch(within(t), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = second.Recv(); status.Code(err) != codes.ResourceExhausted || second.Trailer().Get(pushbackName)[0] != "1000" {
		t.Error(err, second.Trailer())
	}
	cancel()
	watch := sluice.Attributes{"endpoint": "/grpc.health.v1.Health/Watch", "ip": "127.0.0.1"}
	testdaemon.Until(t, func() bool {
		d, err := client.Status(within(t), watch)
		return err == nil && d.Allowed
	})
}

func TestServerWithoutAttributesLetsACallPass(t *testing.T) {
	_, options := limited(t, ServerConfig{Attributes: func(context.Context, string, any) sluice.Attributes { return nil }})
	c := serve(t, options)
	for i := 0; i < 4; i++ {
		if err := call(within(t), c); err != nil {
			t.Error(err)
		}
	}
}

func TestClientWaitsAsLongAsTheServerSays(t *testing.T) {
	_, options := limited(t, as("/quick"))
	c := serve(t, options, pacing(throttle.DefaultPolicy())...)
	for i := 0; i < 4; i++ { // One each 50 ms.
		if err := call(within(t), c); err != nil {
			t.Error(err)
		}
	}
}

// refuse answers the first calls with an error.
func refuse(calls *atomic.Int32, first int32, err error, trailer ...string) []grpc.ServerOption {
	return []grpc.ServerOption{grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler) (any, error) {
		if calls.Add(1) > first {
			return handler(ctx, request)
		}
		_ = grpc.SetTrailer(ctx, metadata.Pairs(trailer...))
		return nil, err
	})}
}

func retryIn(code codes.Code, d time.Duration) error {
	detailed, err := status.New(code, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
	if err != nil {
		panic(err)
	}
	return detailed.Err()
}

func TestWhatTheClientSendsAgain(t *testing.T) {
	busy := status.Error(codes.ResourceExhausted, "busy")
	away := status.Error(codes.Unavailable, "away")
	for name, one := range map[string]struct {
		err     error
		trailer []string
		calls   int32
		code    codes.Code
	}{
		"RetryInfo":                   {retryIn(codes.ResourceExhausted, 30*time.Millisecond), nil, 2, codes.OK},
		"pushback":                    {busy, []string{pushbackName, "30"}, 2, codes.OK},
		"no more, says pushback":      {busy, []string{pushbackName, "-1"}, 1, codes.ResourceExhausted},
		"a field of HTTP":             {busy, []string{"retry-after", "0.03"}, 2, codes.OK},
		"no time: another meaning":    {busy, nil, 1, codes.ResourceExhausted},
		"more than the cap":           {retryIn(codes.ResourceExhausted, time.Hour), nil, 1, codes.ResourceExhausted},
		"more than the deadline":      {retryIn(codes.ResourceExhausted, 30*time.Second), nil, 1, codes.ResourceExhausted},
		"may have been processed":     {retryIn(codes.Unavailable, 30*time.Millisecond), nil, 1, codes.Unavailable},
		"unavailable without a time":  {away, nil, 1, codes.Unavailable},
		"an error that is no refusal": {status.Error(codes.Internal, "bug"), nil, 1, codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			c := serve(t, refuse(&calls, 1, one.err, one.trailer...), pacing(throttle.DefaultPolicy())...)
			begin := time.Now()
			if err := call(within(t), c); status.Code(err) != one.code || calls.Load() != one.calls {
				t.Error(err, calls.Load())
			}
			if one.calls == 2 && time.Since(begin) < 30*time.Millisecond {
				t.Error("sent again after", time.Since(begin))
			}
		})
	}
}

func TestAnIdempotentMethodIsSentAgainAfterUnavailable(t *testing.T) {
	var calls atomic.Int32
	config := ClientConfig{Throttle: throttle.New(throttle.DefaultPolicy()), Idempotent: func(name string) bool { return name == method }}
	c := serve(t, refuse(&calls, 1, retryIn(codes.Unavailable, time.Millisecond)), grpc.WithUnaryInterceptor(UnaryClientInterceptor(config)))
	if err := call(within(t), c); err != nil || calls.Load() != 2 {
		t.Error(err, calls.Load())
	}
}

func TestAHeldCallIsNotSent(t *testing.T) {
	var calls atomic.Int32
	c := serve(t, refuse(&calls, 9, retryIn(codes.ResourceExhausted, time.Hour)), pacing(throttle.DefaultPolicy())...)
	_ = call(within(t), c)
	err := call(within(t), c)
	var held *throttle.HeldError
	if !errors.As(err, &held) || status.Code(err) != codes.ResourceExhausted || calls.Load() != 1 {
		t.Error(err, calls.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c = serve(t, nil, pacing(throttle.DefaultPolicy())...)
	if err := call(ctx, c); status.Code(err) != codes.Canceled {
		t.Error(err)
	}
}

func TestAStreamTeachesTheClient(t *testing.T) {
	refusing := grpc.StreamInterceptor(func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
		return retryIn(codes.ResourceExhausted, time.Hour)
	})
	c := serve(t, []grpc.ServerOption{refusing}, pacing(throttle.DefaultPolicy())...)
	stream, err := c.Watch(within(t), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stream.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	var held *throttle.HeldError
	if _, err = c.Watch(within(t), &healthpb.HealthCheckRequest{}); !errors.As(err, &held) {
		t.Error(err)
	}
}

func TestTheCodeOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled := strings.ReplaceAll(string(examples), "\n\t", "\n")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 2 {
		t.Error("the README has", len(blocks), "examples")
	}
	for _, block := range blocks {
		if !strings.Contains(compiled, block[1]) {
			t.Errorf("example_test.go does not have\n%s", block[1])
		}
	}
}
