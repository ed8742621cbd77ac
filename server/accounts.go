package server

import (
	"context"
	"crypto/sha256"

	"github.com/flip7-arena/flip7/arena"
)

// lookup finds whose token has a hash.
func (s *Server) lookup(_ context.Context, hash [sha256.Size]byte) (caller, error) {
	if c, known := s.bots.started(hash); known {
		return c, nil
	}
	return caller{}, errNoToken
}

// claim makes sure that there is a bot of a name that is the organiser's.
func (s *Server) claim(_ context.Context, name string) error {
	return arena.CheckName("name", name, 32)
}
