//go:build unix

package sluice

import (
	"net"
	"syscall"
)

// isOpen is whether the server has kept an idle connection open. It sends nothing unasked, so anything to read means closed.
func isOpen(c net.Conn) bool {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = control.Control(func(fd uintptr) { // Not Read, which fails once the last call's deadline is over.
		_, err := syscall.Read(int(fd), make([]byte, 1))
		open = err == syscall.EAGAIN
	})
	return err == nil && open
}
