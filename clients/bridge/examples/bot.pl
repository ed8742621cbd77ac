#!/usr/bin/env perl
# A bot in Perl: it hits until 20 points are at stake, and gives cards to the first seat that may have them.
#
#   flip7 bridge -- perl bot.pl
use strict;
use warnings;
use JSON::PP;

$| = 1;    # print at once
print qq({"ready":true}\n);
while (my $line = <STDIN>) {
    my $request = decode_json($line);
    next if $request->{type} ne 'request';    # news, which want no answer

    my $decision = $request->{legal}[0];
    if ($request->{kind} eq 'turn' && $request->{points} >= 20) {
        $decision = 'stay';
    }
    print encode_json({ id => $request->{id}, decision => $decision }), "\n";
}
