#!/usr/bin/perl
# What a Perl program says to a Redis server, said to Sluice. Usage: client.pl HOST:PORT PASSWORD
use strict;
use warnings;
use Redis;

sub expect {
  my ($got, $wanted, $what) = @_;
  $got = join ' ', map { defined $_ ? $_ : 'nil' } ref $got ? @$got : ($got);
  die "$what: got '$got' and not '$wanted'\n" if $got ne $wanted;
}

my ($server, $password) = @ARGV;
my $redis = Redis->new(server => $server, password => $password, name => 'perl', encoding => undef);
expect($redis->ping, 'PONG', 'ping');
expect($redis->client_getname, 'perl', 'name');
expect($redis->select(0), 'OK', 'select');

# A command that the library does not know: it sends what it is called by.
sub throttle { my $name = 'cl.throttle'; my @reply = $redis->$name(@_); return \@reply }
expect(throttle('perl:1', 1, 1, 60), '0 2 1 -1 60', 'first');
expect(throttle('perl:1', 1, 1, 60), '0 2 0 -1 120', 'second');
my $third = throttle('perl:1', 1, 1, 60);
die "third: not limited\n" if $third->[0] != 1;
eval { throttle('perl:1', 1, 0, 60) };
die "an error: $@\n" if $@ !~ /count must be a whole number from 1/;

# Pipelined: answers come by callbacks, in order.
my @got;
for my $i (1 .. 200) {
  $redis->echo($i, sub { push @got, $_[0] });
}
$redis->wait_all_responses;
expect(\@got, join(' ', 1 .. 200), 'pipeline');
expect($redis->info->{sluice_version} ? 'there' : 'none', 'there', 'info');
$redis->quit;
print "perl: ok\n";
