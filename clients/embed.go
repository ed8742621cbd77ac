// Package clients holds what `flip7 new-bot` writes: the kits as they are, an example bot for each, and what a project of
// its own needs beside them. It knows no language; which file goes where is for the verb to say.
package clients

import "embed"

// Files is by path, from this folder. Tests and what the tools of a language leave behind are not in it.
//
//go:embed templates
//go:embed go/arena.go go/card.go go/decision.go go/end.go go/flip7.go go/news.go go/odds.go go/player.go go/queue.go go/stream.go go/view.go
//go:embed go/README.md go/examples/odds/main.go
//go:embed python/README.md python/LICENSE python/flip7/*.py python/flip7/py.typed python/flip7/v1/*.py python/flip7/v1/*.pyi python/examples/odds.py
//go:embed typescript/package.json typescript/README.md typescript/dist typescript/examples/odds.ts
//go:embed bridge/README.md bridge/schema.json bridge/testdata/lines.txt bridge/examples/bot.*
var Files embed.FS
