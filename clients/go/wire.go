package sluice

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// HTTP/1.1 over kept connections, one request at a time on each. The goroutine of the caller writes and reads itself: http.Transport
// has two more for each connection, and costs more CPU (README.md, Cost).

const (
	mostHead = 64 << 10
	mostBody = 16 << 20 // A batch of 1,000 answers with holds is below 1 MiB.
)

// reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// conn is a connection to the daemon.
type conn struct {
	net.Conn
	reader *bufio.Reader
	left   int // Bytes that the present response may still have.
}

var errTooLong = errors.New("the response is too long")

// Read is for reader.
func (c *conn) Read(into []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.Conn.Read(into)
	c.left -= n
	return n, err
}

// exchange sends a request and reads its response, by the given time and while the context lasts. If reusable is false, the
// connection has to be closed.
func (c *conn) exchange(ctx context.Context, request []byte, until time.Time) (got *reply, reusable bool, err error) {
	c.left = mostHead + mostBody
	if err := c.SetDeadline(until); err != nil {
		return nil, false, err
	}
	if ctx.Done() == nil {
		return c.roundTrip(request)
	}
	stop := afterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // Ends reads and writes.
	got, reusable, err = c.roundTrip(request)
	return got, stop() && reusable, err
}

func (c *conn) roundTrip(request []byte) (got *reply, reusable bool, err error) {
	if _, err := c.Conn.Write(request); err != nil {
		return nil, false, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	for err == nil && response.StatusCode/100 == 1 { // 100 and 103 come before the response.
		response, err = http.ReadResponse(c.reader, nil)
	}
	if err != nil {
		return nil, false, err
	}
	body, err := readBody(response)
	if err != nil {
		return nil, false, err
	}
	framed := response.ContentLength >= 0 || len(response.TransferEncoding) > 0
	reusable = framed && !response.Close && c.reader.Buffered() == 0
	return &reply{response.StatusCode, response.Header, body}, reusable, nil
}

func readBody(response *http.Response) ([]byte, error) {
	if length := response.ContentLength; length >= 0 {
		if length > mostBody {
			return nil, errTooLong
		}
		body := make([]byte, length)
		_, err := io.ReadFull(response.Body, body)
		return body, err
	}
	return io.ReadAll(response.Body)
}

// pool keeps connections between calls.
type pool struct {
	address string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config // nil: without TLS.
	most    int
	mutex   sync.Mutex
	idle    []*conn
}

// take is an idle connection that is still open, or a new one.
func (p *pool) take(ctx context.Context, until time.Time) (*conn, error) {
	for {
		kept := p.pop()
		if kept == nil {
			return p.connect(ctx, until)
		}
		if p.tls != nil || isOpen(kept.Conn) { // Over TLS there may be records that are no data.
			return kept, nil
		}
		kept.Close()
	}
}

func (p *pool) pop() *conn {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	kept := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return kept
}

func (p *pool) give(c *conn) {
	p.mutex.Lock()
	full := len(p.idle) >= p.most
	if !full {
		p.idle = append(p.idle, c)
	}
	p.mutex.Unlock()
	if full {
		c.Close()
	}
}

func (p *pool) connect(ctx context.Context, until time.Time) (*conn, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	plain, err := p.dial(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	made := &conn{Conn: plain}
	if p.tls != nil {
		secured := tls.Client(plain, p.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			plain.Close()
			return nil, err
		}
		made.Conn = secured
	}
	made.reader = bufio.NewReader(made)
	return made, nil
}

func (p *pool) close() {
	p.mutex.Lock()
	idle := p.idle
	p.idle = nil
	p.mutex.Unlock()
	for _, kept := range idle {
		kept.Close()
	}
}
