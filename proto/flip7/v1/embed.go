package flip7v1

import "embed"

// PlaySource is the Go code of the conversation with bots, for projects that are written from here. It needs no other
// file of this package.
//
//go:embed doc.go game.pb.go play_service.pb.go play_service_grpc.pb.go
var PlaySource embed.FS
