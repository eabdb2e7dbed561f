// Package sluicegrpc has gRPC interceptors: servers that ask Sluice before each call, and clients that keep to the limits of servers.
package sluicegrpc

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.example/sluice"
)

// ServerConfig is how the interceptors of a server ask. The zero value of each member is what it says.
type ServerConfig struct {
	// Attributes makes the attributes of a call. request is nil for a stream. nil attributes are a call that is not limited. The
	// member itself nil is CallAttributes. Only use what you have verified.
	Attributes func(ctx context.Context, method string, request any) sluice.Attributes
	// Options of each check, such as sluice.Cost.
	Options []sluice.CheckOption
}

// CallAttributes are endpoint (the full method, "/package.Service/Method") and ip. Behind a proxy, ip is the proxy's address.
func CallAttributes(ctx context.Context, method string, _ any) sluice.Attributes {
	attributes := sluice.Attributes{"endpoint": method}
	if from, ok := peer.FromContext(ctx); ok {
		if address, err := netip.ParseAddrPort(from.Addr.String()); err == nil { // Not over a Unix socket.
			attributes["ip"] = address.Addr().Unmap().WithZone("").String()
		}
	}
	return attributes
}

// UnaryServerInterceptor asks Sluice before each unary call. A call that may not pass ends with RESOURCE_EXHAUSTED (PERMISSION_DENIED
// if its key is banned, UNAVAILABLE if Sluice cannot decide), with RetryInfo and ErrorInfo as details, and in its trailer the
// rate limit fields and grpc-retry-pushback-ms, by which gRPC's own retries wait. A call that passes has the rate limit fields in
// its header. Slots of concurrency rules are held, and renewed, until the handler returns.
func UnaryServerInterceptor(client *sluice.Client, config ServerConfig) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		attributes := config.attributes(ctx, info.FullMethod, request)
		if attributes == nil {
			return handler(ctx, request)
		}
		hold := client.Enter(ctx, attributes, config.Options...)
		defer hold.Release()
		if !hold.Decision.Allowed {
			_ = grpc.SetTrailer(ctx, trailerOf(hold.Decision)) // It fails only where there is no call.
			return nil, denial(hold.Decision)
		}
		_ = grpc.SetHeader(ctx, fieldsOf(hold.Decision))
		return handler(sluice.NewContext(ctx, hold.Decision), request)
	}
}

// StreamServerInterceptor asks Sluice before each stream, once, as UnaryServerInterceptor does for a call.
func StreamServerInterceptor(client *sluice.Client, config ServerConfig) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		attributes := config.attributes(stream.Context(), info.FullMethod, nil)
		if attributes == nil {
			return handler(server, stream)
		}
		hold := client.Enter(stream.Context(), attributes, config.Options...)
		defer hold.Release()
		if !hold.Decision.Allowed {
			stream.SetTrailer(trailerOf(hold.Decision))
			return denial(hold.Decision)
		}
		_ = stream.SetHeader(fieldsOf(hold.Decision)) // It fails only once the header has been sent.
		return handler(server, decided{stream, sluice.NewContext(stream.Context(), hold.Decision)})
	}
}

type decided struct {
	grpc.ServerStream
	ctx context.Context
}

func (d decided) Context() context.Context { return d.ctx }

func (c *ServerConfig) attributes(ctx context.Context, method string, request any) sluice.Attributes {
	if c.Attributes == nil {
		return CallAttributes(ctx, method, request)
	}
	return c.Attributes(ctx, method, request)
}

func fieldsOf(decision *sluice.Decision) metadata.MD {
	header := http.Header{}
	decision.CopyHeader(header)
	fields := make(metadata.MD, len(header))
	for name, values := range header {
		fields[strings.ToLower(name)] = values
	}
	return fields
}

// trailerOf is the trailer of a denial. There is no header, because gRPC's retries count only a response without one.
func trailerOf(decision *sluice.Decision) metadata.MD {
	trailer := fieldsOf(decision)
	pushback := int64(-1) // Do not retry.
	if decision.RetryAfter > 0 {
		pushback = int64((decision.RetryAfter + time.Millisecond - 1) / time.Millisecond)
	}
	trailer.Set(pushbackName, strconv.FormatInt(pushback, 10))
	return trailer
}

// denial is the status of a call that may not pass. The rules' names are not in it, other than in the limit fields.
func denial(decision *sluice.Decision) error {
	code := codes.Unavailable
	switch decision.Status {
	case http.StatusTooManyRequests:
		code = codes.ResourceExhausted
	case http.StatusForbidden:
		code = codes.PermissionDenied
	}
	message := "rate limit: " + decision.Reason()
	if decision.RetryAfter > 0 {
		message += fmt.Sprintf("; again in %.3f s", decision.RetryAfter.Seconds())
	}
	said := status.New(code, message)
	detailed, err := said.WithDetails(&errdetails.ErrorInfo{Reason: strings.ToUpper(decision.Reason()), Domain: "sluice"})
	if err == nil && decision.RetryAfter > 0 {
		detailed, err = detailed.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(decision.RetryAfter)})
	}
	if err != nil {
		return said.Err()
	}
	return detailed.Err()
}
