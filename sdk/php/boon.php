<?php

/**
 * The client of Boon in PHP. It is this one file, and needs PHP 8.1 or newer with the extension openssl.
 *
 *     require 'boon.php';
 *     $till = new Boon\Client('https://gifts.example.com', getenv('BOON_KEY'));
 *     $paid = $till->redeemSafely(new Boon\Amount('9.50'), ['voucherID' => $gift], $key);
 *
 * Members of requests and answers have the names of the service's reference.
 */

declare(strict_types=1);

namespace Boon;

/** An amount of money or of pieces, exact: a float is refused. A whole one may also be an int. */
final class Amount implements \Stringable, \JsonSerializable
{
    private bool $all = false;

    /** $text is such as '9.50'. */
    public function __construct(private readonly string $text)
    {
        if (!preg_match('/^-?[0-9]{1,30}(\.[0-9]{1,10})?$/D', $text)) {
            throw new \InvalidArgumentException("an amount is written as '9.50'");
        }
    }

    /** All that is left, in place of an amount. */
    public static function all(): self
    {
        $all = new self('0');
        $all->all = true;
        return $all;
    }

    public function isAll(): bool
    {
        return $this->all;
    }

    public function __toString(): string
    {
        return $this->all ? 'all' : $this->text;
    }

    /** In JSON of yours it is a text. */
    public function jsonSerialize(): string
    {
        return (string) $this;
    }
}

/** What every failed call throws. What was never sent throws a TypeError, ValueError or InvalidArgumentException. */
abstract class Failure extends \RuntimeException
{
}

/** An answer that is no success of the service's. Where refused() is true, nothing was changed. */
final class BoonError extends Failure
{
    /** @var string such as INSUFFICIENT_BALANCE; '': the answer was not the service's own */
    public $code = '';

    /** @param list<array{path: string, text: string}> $messages every problem, in words that a person may be shown */
    public function __construct(
        string $code,
        public readonly int $status, // of HTTP
        public readonly array $messages,
        public readonly string $requestID, // by which the operators find the call in their logs
        public readonly float $retryAfter = 0, // seconds until a repeat makes sense; 0: not said
    ) {
        $texts = array_map(fn (array $m) => ($m['path'] === '' ? '' : $m['path'] . ': ') . $m['text'], $messages);
        parent::__construct(($code === '' ? '' : "$code ") . "HTTP $status: " . implode('; ', $texts) .
            ($requestID === '' ? '' : " [request $requestID]"));
        $this->code = $code;
    }

    /** Whether this is the service's definite no. */
    public function refused(): bool
    {
        return $this->code !== '' && $this->code !== 'REQUEST_IN_PROGRESS' && $this->status >= 400 && $this->status < 500;
    }

    /** Whether a repeat of the same call may fare better. */
    public function passing(): bool
    {
        return $this->status < 300 || $this->status >= 500 || $this->status === 429 ||
            $this->code === 'REQUEST_IN_PROGRESS';
    }

    /** Whether it came before the service looked at the Idempotency-Key: it says nothing about an earlier attempt. */
    public function ofTheMoment(): bool
    {
        return in_array($this->status, [401, 403, 429], true);
    }
}

/** There was no answer, and nothing was changed: the call never left, or was one that only looks. */
final class Unreachable extends Failure
{
}

/** No attempt brought a definite answer: the call took effect once, or not at all. Repeat it with the same key. */
final class UnknownOutcome extends Failure
{
    public function __construct(string $what, public readonly ?string $key, string $why, ?\Throwable $cause = null)
    {
        parent::__construct("it is unknown whether $what $key took effect: $why", 0, $cause);
    }
}

/** The service took no notice of a dry run and did what it was asked: its version is before 0.2.0. */
final class NotDry extends Failure
{
}

/** redeemSafely() got no definite answer and took the redemption back: nothing is taken from the gift. */
final class Voided extends Failure
{
    public function __construct(public readonly string $key, ?\Throwable $cause = null)
    {
        parent::__construct('the redemption was voided, nothing was taken from the gift', 0, $cause);
    }
}

/** A message of a webhook was not signed with the secret, or not just now. */
final class BadSignature extends \RuntimeException
{
}

/**
 * Calls one service with one API key.
 *
 * Every call that changes something is made under an Idempotency-Key, and is repeated with it while there is no answer,
 * or 5xx, 429 or REQUEST_IN_PROGRESS. It throws BoonError (the service's no), UnknownOutcome, or Unreachable.
 * Times are in seconds: $timeout limits an attempt, $deadline the whole call. A Retry-After above $maxPause is not
 * waited for.
 */
final class Client
{
    private const API = '/api/integration/';
    private const WITH_RECEIPT = [
        self::API . 'redemption/redeem-gift', self::API . 'redemption/capture-hold', self::API . 'redemption/reload-gift',
        self::API . 'redemption/cash-out-gift', self::API . 'redemption/activate-gift',
    ];
    private const TILL = [3, 5.0, 20.0]; // attempts, and seconds for each and for all
    private const LARGEST = 64 << 20; // bytes of an answer, far above what the service sends

    private readonly string $address;
    private readonly string $host;
    private readonly string $path;
    private bool $dry = false;
    private bool $receipts = false;
    /** @var list<array{name: string, unit: string, limit: int, left: int, resets: int, window: int}> */
    private array $quotas = [];

    public function __construct(
        string $baseURL,
        #[\SensitiveParameter] private readonly string $key,
        private readonly float $timeout = 60,
        private readonly int $attempts = 4,
        private readonly float $deadline = 150,
        private readonly float $pause = 0.25,
        private readonly float $maxPause = 10,
    ) {
        $u = preg_match('/^[!-~]+$/D', $baseURL) ? parse_url($baseURL) : false;
        if (!$u || !in_array($u['scheme'] ?? '', ['http', 'https'], true) || ($u['host'] ?? '') === '') {
            throw new \ValueError('the base address must begin with http:// or https:// and name a host');
        }
        if (isset($u['user']) || str_contains($baseURL, '@') || strpbrk($baseURL, '?#') !== false) {
            throw new \ValueError('the base address must not hold a user name, a query or a fragment');
        }
        if (!preg_match('/^[!-~]+$/D', $key)) {
            throw new \ValueError('the API key must be visible ASCII characters, and at least one');
        }
        if ($attempts < 1 || !($timeout > 0) || !($deadline > 0) || !($pause >= 0) || !($maxPause >= $pause)) {
            throw new \ValueError('attempts, timeout and deadline must be above 0, and maxPause not below pause');
        }
        $tls = $u['scheme'] === 'https';
        $this->address = ($tls ? 'ssl://' : 'tcp://') . $u['host'] . ':' . ($u['port'] ?? ($tls ? 443 : 80));
        $this->host = $u['host'] . (isset($u['port']) ? ":{$u['port']}" : '');
        $this->path = rtrim($u['path'] ?? '', '/');
    }

    /** @return array<string, string> what is shown of a client, which is not the key */
    public function __debugInfo(): array
    {
        return ['address' => $this->address];
    }

    /** An Idempotency-Key, random. Keep it with the sale before the call is made. */
    public static function newKey(): string
    {
        $b = random_bytes(16);
        $b[6] = chr(ord($b[6]) & 0x0f | 0x40);
        $b[8] = chr(ord($b[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($b), 4));
    }

    /**
     * A client whose calls change nothing: operations on gifts answer what they would, with ids that name nothing, and
     * refuse what they would refuse. What has no dry run is refused with NOT_SUPPORTED. A service before 0.2.0 has no
     * dry runs and does what it is asked: then the call throws NotDry.
     */
    public function dryRun(): self
    {
        $dry = clone $this;
        $dry->dry = true;
        return $dry;
    }

    /**
     * A client whose redemptions of one gift, captures, reloads, cash-outs and activations are answered with a receipt:
     * ['receipt']['lines'] are at most 6 lines of at most 32 columns, which a till prints.
     */
    public function receipts(): self
    {
        $told = clone $this;
        $told->receipts = true;
        return $told;
    }

    /**
     * The daily limits that the last call counted against, by name; none: nothing was done. unit is what a limit counts,
     * such as gifts, or minor-units of the account's currency; resets is in how many seconds it counts anew, window how
     * many seconds the day has.
     *
     * @return list<array{name: string, unit: string, limit: int, left: int, resets: int, window: int}>
     */
    public function quotas(): array
    {
        return $this->quotas;
    }

    /** Creates gifts, all or none, and sends them. */
    public function sendGift(array $members, string $key): array
    {
        return $this->call('POST', self::API . 'gifting/send-gift', $members, $key);
    }

    /** Tells what a gift is worth here and now, and why it cannot be redeemed. It changes nothing. */
    public function validateGift(array $members): array
    {
        return $this->call('POST', self::API . 'redemption/validate-gift', $members);
    }

    /**
     * Redeems as a till must, so that the guest never pays twice and never for nothing: three tries of 5 seconds under
     * one key; without an answer the redemption is reversed by that key, in another three tries. It ends, within 40
     * seconds once the service's name is looked up, in one of these:
     *
     * - an answer: the amount was taken, once;
     * - BoonError: nothing was taken, because of what the error says (IDEMPOTENCY_MISMATCH: the key was used before, for
     *   another sale); Unreachable: nothing was sent;
     * - Voided: nothing is taken, whatever became of the attempts;
     * - UnknownOutcome: the reversal got no answer either. Keep its key, and call reverseRedemption with
     *   'idempotencyKey' => $key and the gift until there is an answer.
     */
    public function redeemSafely(Amount|int $amount, array $members, string $key): array
    {
        $body = self::howMuch($amount, $members);
        try {
            return $this->do('POST', self::API . 'redemption/redeem-gift', $body, $key, ...self::TILL);
        } catch (UnknownOutcome $unknown) {
            $same = ['organizationID', 'pointOfSaleSystemOrganizationIdentifier', 'voucherID', 'voucherCode',
                'voucherPublicToken'];
            $void = array_intersect_key($body, array_flip($same)) +
                ['idempotencyKey' => $key, 'operation' => 'redeem-gift', 'reason' => 'no answer to the till'];
            try {
                $this->do('POST', self::API . 'redemption/reverse-redemption', $void, self::newKey(), ...self::TILL);
            } catch (Failure $e) {
                $code = $e instanceof BoonError ? $e->code : '';
                if ($code === 'IDEMPOTENCY_MISMATCH') { // what was taken under this key is another sale's
                    throw $e;
                }
                if ($code !== 'NOT_FOUND' && $code !== 'ALREADY_REVERSED') {
                    throw new UnknownOutcome('redeem-gift', $key, 'it could not be voided: ' . $e->getMessage(), $e);
                }
            }
            throw new Voided($key, $unknown);
        }
    }

    /**
     * Gives back what a redemption took, named by its redemptionID or by the key it was made with (idempotencyKey). By
     * that key, NOT_FOUND is good news: it never arrived, and will be refused should it still come.
     */
    public function reverseRedemption(Amount|int $amount, array $members, string $key): array
    {
        $body = self::howMuch($amount, $members);
        return $this->call('POST', self::API . 'redemption/reverse-redemption', $body, $key);
    }

    /**
     * Has several gifts pay for one sale, in their order, all or none. What is to be paid is upTo or ticketData among the
     * members; without either, each gift pays its amount, or all that is available. If there is no answer, call
     * reverseRedemption with 'idempotencyKey' => $key and 'operation' => 'redeem-gifts'.
     *
     * @param list<array<string, mixed>> $gifts
     */
    public function redeemGifts(array $gifts, array $members, string $key): array
    {
        return $this->call('POST', self::API . 'redemption/redeem-gifts', ['gifts' => $gifts] + $members, $key);
    }

    /** Links a gift (voucherID) to a customer of yours (customerID): gifts(['customerID' => ...]) finds it. */
    public function linkCustomer(array $members, string $key): array
    {
        return $this->call('POST', self::API . 'gifting/link-customer', $members, $key);
    }

    /** Ends the link of a gift (voucherID), if it is to the customerID or none is given. */
    public function unlinkCustomer(array $members, string $key): array
    {
        return $this->call('POST', self::API . 'gifting/unlink-customer', $members, $key);
    }

    /** Finds a gift by its voucherID. */
    public function gift(string $voucherID): array
    {
        return $this->call('GET', self::API . 'gifting/gifts/' . self::segment($voucherID));
    }

    /** Goes through the gifts of the account, the newest first, fetching pages (of limit gifts) as needed. */
    public function gifts(array $filters = []): \Generator
    {
        return $this->pages('gifting/gifts', 'gifts', $filters);
    }

    /** Goes through everything that happened to a gift, the oldest first. */
    public function history(string $voucherID): \Generator
    {
        return $this->pages('gifting/gifts/' . self::segment($voucherID) . '/history', 'entries', []);
    }

    /** Tells what was owed for gifts: now, or at $query['at'], which is an instant, or a day that has ended. */
    public function liability(array $query = []): array
    {
        return $this->call('GET', self::report('liability', $query));
    }

    /** Tells how what was owed changed, from $query['from'] on. The opening and all lines come to the closing. */
    public function rollForward(array $query): array
    {
        return $this->call('GET', self::report('roll-forward', $query));
    }

    /** Tells what was redeemed in a period, given back, and paid out in cash. */
    public function redemptions(array $query): array
    {
        return $this->call('GET', self::report('redemptions', $query));
    }

    /** Tells what was sold at one location and used at another one in a period, and who owes whom for that. */
    public function settlement(array $query): array
    {
        return $this->call('GET', self::report('settlement', $query));
    }

    /** Tells what was owed by the month in which it was sold, and which share of that month was redeemed. */
    public function ageing(array $query = []): array
    {
        return $this->call('GET', self::report('ageing', $query));
    }

    /**
     * Estimates how much of what was owed will never be redeemed, and tells what was booked of it before.
     * $query['rate'] is how much of what is sold never is, in percent.
     */
    public function breakage(array $query): array
    {
        return $this->call('GET', self::report('breakage', $query));
    }

    /**
     * Books the breakage of a month that is over, such as 2026-11, once: what the estimate at its end adds to what was
     * booked before. $members are month and rate.
     */
    public function bookBreakage(array $members): array
    {
        return $this->call('POST', self::API . 'reports/breakage/book', $members);
    }

    /** Tells how many gifts nobody had used for $query['months'] months, and what was owed, by jurisdiction. */
    public function dormant(array $query): array
    {
        return $this->call('GET', self::report('dormant', $query));
    }

    /**
     * Gives the entries of whole days, up to yesterday, for the ledger of the merchant: 'file' is a file.
     * $query['format'] is csv, datev, xero, quickbooks or hledger. The other members tell what the journal is of, its
     * reportID and sha256. Who keeps 'file' as FILE and 'proof' as FILE.proof.json can have it proved by
     * boon report verify FILE.
     */
    public function journal(array $query): array
    {
        return $this->call('GET', self::report('journal', $query));
    }

    /**
     * Makes any call, such as call('POST', '/api/integration/gifting/block-gift', [...], $key). A text in place of
     * members is a CSV file, as imports take one. A POST that changes something gets a key if none is given. One about
     * webhooks, tills, people and reports, which take none, is not repeated.
     */
    public function call(string $method, string $path, array|string|null $members = null, ?string $key = null): array
    {
        return $this->do($method, $path, $members, $key, $this->attempts, $this->timeout, $this->deadline);
    }

    /** Fetches a file: the CSV or the PDF of an order, the CSV of a report, a journal, a page of an export. */
    public function file(string $path): string
    {
        return $this->call('GET', $path)['file'] ??
            throw new \ValueError('nothing but the files of orders, reports and exports are files');
    }

    private function do(string $method, string $path, array|string|null $members, ?string $key, int $attempts,
        float $timeout, float $deadline): array
    {
        if (!in_array($method, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], true)) {
            throw new \ValueError('the method is none of GET, POST, PUT, PATCH and DELETE');
        }
        if (!preg_match('/^\/[!-~]*$/D', $path) || str_contains($path, '#')) {
            throw new \ValueError('the path must begin with / and have visible ASCII characters only');
        }
        $looks = $method === 'GET' || $path === self::API . 'redemption/validate-gift';
        if ($method === 'POST' && !$looks) {
            if (preg_match('~^' . self::API . '(webhooks|tills|people|reports)~', $path)) {
                $attempts = 1;
            } else {
                $key ??= self::newKey();
            }
        }
        if ($key !== null && !preg_match('/^[!-~]([ -~]{0,253}[!-~])?$/D', $key)) {
            throw new \ValueError('the Idempotency-Key must be 1 to 255 printable ASCII characters, no space at its ends');
        }
        $receipt = $this->receipts && in_array($path, self::WITH_RECEIPT, true);
        $dry = $this->dry && !$looks;
        if ($dry) {
            $path .= (str_contains($path, '?') ? '&' : '?') . 'dryRun=true';
        }
        if ($receipt) {
            $path .= (str_contains($path, '?') ? '&' : '?') . 'receipt=true';
        }
        $head = "$method {$this->path}$path HTTP/1.1\r\nHost: {$this->host}\r\nConnection: close\r\n" .
            "Authorization: Bearer {$this->key}\r\nAccept: application/json, application/problem+json\r\n" .
            "User-Agent: boon-client-php\r\n" . ($key === null ? '' : "Idempotency-Key: $key\r\n");
        $body = is_array($members) ? self::write((object) $members, '') : (string) $members;
        if ($body !== '' || $method !== 'GET') {
            $media = is_string($members) ? 'text/csv' : 'application/json';
            $head .= "Content-Type: $media\r\nContent-Length: " . strlen($body) . "\r\n";
        }
        $answer = $this->repeat("$head\r\n$body", $path, $looks, $key, $attempts, $timeout, $deadline);
        if ($dry && ($answer['dryRun'] ?? null) !== true) {
            throw new NotDry('the service took no notice of the dry run and did what it was asked');
        }
        return $answer;
    }

    /** Tries until there is a definite answer, or attempts or the time run out. $sure: no attempt took effect. */
    private function repeat(string $request, string $path, bool $looks, ?string $key, int $attempts, float $timeout,
        float $deadline): array
    {
        $end = self::now() + $deadline;
        $sure = true;
        for ($n = 1; ; $n++) {
            $asked = 0.0;
            $again = true;
            try {
                $this->quotas = [];
                $reply = $this->ask($request, min($timeout, max($end - self::now(), 0.001)));
                $said = self::read($reply, $path);
                $this->quotas = self::rests($reply[1]['ratelimit-policy'] ?? '', $reply[1]['ratelimit'] ?? '');
                return $said;
            } catch (BoonError $failure) {
                $asked = $failure->retryAfter;
                $again = $failure->passing();
                $sure = $failure->refused() && ($sure || !$failure->ofTheMoment());
            } catch (Unreachable $failure) {
            } catch (NoAnswer $failure) {
                $sure = false;
            }
            $longest = min($this->pause * 2 ** ($n - 1), $this->maxPause);
            $pause = $longest * random_int(500, 1000) / 1000 + $asked;
            if (!$again || $n >= $attempts || $asked > $this->maxPause || self::now() + $pause >= $end) {
                break;
            }
            usleep((int) ($pause * 1e6));
        }
        if (!$looks && !$sure) {
            throw new UnknownOutcome(basename(strtok($path, '?')), $key, $failure->getMessage(), $failure);
        }
        throw $failure instanceof NoAnswer ? new Unreachable($failure->getMessage(), 0, $failure) : $failure;
    }

    /** What two headers say (draft-ietf-httpapi-ratelimit-headers-10); what cannot be read is left out. */
    private static function rests(string $policies, string $rest): array
    {
        $left = self::items($rest);
        $all = [];
        foreach (self::items($policies) as $name => $of) {
            $is = $left[$name] ?? [];
            $numbers = [$of['q'] ?? '', $is['r'] ?? '', $is['t'] ?? '', $of['w'] ?? ''];
            if (count(preg_grep('/^[0-9]{1,15}$/D', $numbers)) === 4) {
                [$limit, $rests, $resets, $window] = array_map('intval', $numbers);
                $all[] = ['name' => (string) $name, 'unit' => trim($of['qu'] ?? '', '"'), 'limit' => $limit, 'left' => $rests,
                    'resets' => $resets, 'window' => $window];
            }
        }
        usort($all, fn (array $a, array $b) => strcmp($a['name'], $b['name']));
        return $all;
    }

    /**
     * The strings of a list with their parameters (RFC 9651). The service's have no quotes, commas or semicolons in them.
     *
     * @return array<string, array<string, string>>
     */
    private static function items(string $list): array
    {
        $all = [];
        foreach (explode(',', $list) as $item) {
            $parameters = explode(';', $item);
            $name = trim(array_shift($parameters), ' "');
            $of = [];
            foreach ($parameters as $parameter) {
                [$key, $value] = explode('=', trim($parameter), 2) + [1 => ''];
                $of[$key] = $value;
            }
            if ($name !== '') {
                $all[$name] = $of;
            }
        }
        return $all;
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /**
     * Makes one request. Unreachable: it cannot have arrived; NoAnswer: it may have. Each step ends at the deadline, so
     * that a server that sends a byte now and then does not hold the caller.
     *
     * @return array{int, array<string, string>, string} status, headers with small names, body
     */
    private function ask(string $request, float $seconds): array
    {
        $end = self::now() + $seconds;
        error_clear_last();
        $context = stream_context_create(['ssl' => ['verify_peer' => true, 'verify_peer_name' => true]]);
        $line = @stream_socket_client($this->address, $number, $text, $seconds, STREAM_CLIENT_CONNECT, $context);
        if ($line === false) {
            $why = error_get_last()['message'] ?? $text;
            throw new Unreachable("no connection to {$this->host}: $why");
        }
        try {
            while ($request !== '') {
                self::until($line, $end);
                $n = @fwrite($line, $request) ?: throw new NoAnswer('the connection broke');
                $request = substr($request, $n);
            }
            $got = '';
            do {
                self::until($line, $end);
                $more = @fread($line, 1 << 16);
                if ($more === false || strlen($got .= $more) > self::LARGEST) {
                    throw new NoAnswer('the answer was cut short');
                }
            } while ($more !== '' || !stream_get_meta_data($line)['timed_out'] && !feof($line));
        } finally {
            fclose($line);
        }
        return self::parts($got);
    }

    /** @param resource $line */
    private static function until($line, float $end): void
    {
        $left = $end - self::now();
        if ($left <= 0) {
            throw new NoAnswer('the time for an answer is over');
        }
        stream_set_timeout($line, (int) $left, (int) (($left - (int) $left) * 1e6));
    }

    /**
     * Takes an answer of HTTP apart.
     *
     * @return array{int, array<string, string>, string}
     */
    private static function parts(string $got): array
    {
        do {
            [$head, $got] = explode("\r\n\r\n", $got, 2) + [1 => null];
            if ($got === null || !preg_match('/^HTTP\/1\.[01] ([0-9]{3})/', $head, $status)) {
                throw new NoAnswer('the answer was cut short');
            }
        } while ($status[1] < 200);
        preg_match_all('/^([^:\r\n]+):[ \t]*(.*?)[ \t]*\r?$/m', $head, $lines, PREG_SET_ORDER);
        $headers = [];
        foreach ($lines as [, $name, $value]) {
            $headers[strtolower($name)] = $value;
        }
        if (strtolower($headers['transfer-encoding'] ?? '') === 'chunked') {
            $got = self::unchunked($got);
        } elseif (isset($headers['content-length']) && (int) $headers['content-length'] !== strlen($got)) {
            throw new NoAnswer('the answer was cut short');
        }
        return [(int) $status[1], $headers, $got];
    }

    private static function unchunked(string $got): string
    {
        $whole = '';
        for ($at = 0; preg_match('/\G([0-9a-fA-F]{1,7})[^\r\n]*\r\n/', $got, $size, 0, $at);) {
            $length = (int) hexdec($size[1]);
            if ($length === 0) {
                return $whole;
            }
            $whole .= substr($got, $at + strlen($size[0]), $length);
            $at += strlen($size[0]) + $length + 2;
        }
        throw new NoAnswer('the answer was cut short');
    }

    /**
     * What a success says. All else is a failure: also 200 from a portal, a gateway, or a proxy that lost the rest.
     *
     * @param array{int, array<string, string>, string} $reply
     */
    private static function read(array $reply, string $path): array
    {
        [$status, $headers, $body] = $reply;
        $kind = strtolower(trim(explode(';', $headers['content-type'] ?? '')[0]));
        if ($status >= 200 && $status < 300) {
            // a file of any type, with its SHA-256
            $proved = preg_match('~^' . self::API . '(reports/journal|exports/\w+)(\?|$)~', $path) === 1;
            $digest = 'sha-256=:' . base64_encode(hash('sha256', $body, true)) . ':';
            $file = $proved ? ($headers['content-digest'] ?? '') === $digest : $body !== '' &&
                in_array($kind, ['text/csv', 'application/pdf'], true) &&
                preg_match('~^' . self::API . '(gifting/orders|reports)/~', $path);
            $proof = $file && str_starts_with($path, self::API . 'reports/journal') ? $headers['boon-proof'] ?? '' : null;
            if ($file && $proof === null) {
                return ['file' => $body];
            }
            $proves = $proof === null ? [] : self::decode($proof) ?? [];
            if (isset($proves['reportID'], $proves['sha256'])) {
                return ['file' => $body, 'proof' => $proof] + $proves;
            }
            $said = $proved ? null : self::decode($body);
            $told = ['requestID', ['redeem-gift' => 'redemptionID', 'reverse-redemption' => 'reversalID'][basename(strtok($path, '?'))] ??
                'requestID'];
            $ids = array_filter($told, fn ($name) => is_string($said[$name] ?? null) && $said[$name] !== '');
            if ($said !== null && $kind !== 'application/problem+json' &&
                ($ids === $told || !str_starts_with($path, '/api/'))) {
                return $said;
            }
        }
        throw self::problem($status, $headers, $kind === 'application/problem+json' ? self::decode($body) : null);
    }

    /** The error in an answer that is not a success of the service's, whoever wrote it. */
    private static function problem(int $status, array $headers, ?array $p): BoonError
    {
        $asked = $headers['x-request-id'] ?? '';
        $after = $headers['retry-after'] ?? '';
        $wait = preg_match('/^[0-9]{1,9}$/D', $after) ? (float) $after : max(0.0, (float) (strtotime($after) ?: 0) - time());
        if ($status >= 400 && is_string($p['code'] ?? null) && $p['code'] !== '') {
            $messages = [];
            foreach (is_array($p['messages'] ?? null) ? $p['messages'] : [] as $m) {
                $messages[] = ['path' => (string) ($m['path'] ?? ''), 'text' => (string) ($m['text'] ?? '')];
            }
            $id = is_string($p['requestID'] ?? null) ? $p['requestID'] : $asked;
            return new BoonError($p['code'], $status, $messages, $id, $wait);
        }
        $text = $status >= 300 && $status < 400
            ? 'The service answered with a redirect, which is not followed. Use the address it leads to as the base.'
            : "The answer is not one of Boon's; something between may have given it. Check the base address.";
        return new BoonError('', $status, [['path' => '', 'text' => $text]], $asked, $wait);
    }

    private function pages(string $path, string $name, array $query): \Generator
    {
        do {
            $cursor = $query['cursor'] ?? null;
            $asked = http_build_query($query);
            $page = $this->call('GET', self::API . $path . ($asked === '' ? '' : "?$asked"));
            foreach ($page[$name] as $one) {
                yield $one;
            }
            $query['cursor'] = $page['nextCursor'] ?? null;
        } while ($query['cursor'] !== null && $query['cursor'] !== $cursor);
    }

    private static function report(string $name, array $query): string
    {
        $time = fn (mixed $v) => $v instanceof \DateTimeInterface ? $v->format('Y-m-d\TH:i:s.vP') : $v;
        $asked = http_build_query(array_map($time, $query));
        return self::API . "reports/$name" . ($asked === '' ? '' : "?$asked");
    }

    private static function segment(string $name): string
    {
        if ($name === '') {
            throw new \ValueError('the id is empty');
        }
        return trim($name, '.') === '' ? str_replace('.', '%2E', $name) : rawurlencode($name); // no steps in the path
    }

    private static function howMuch(Amount|int $amount, array $members): array
    {
        unset($members['amount']);
        return $amount instanceof Amount && $amount->isAll() ? $members : $members + ['amount' => $amount];
    }

    /** JSON, in which an Amount is a number and a float is nothing. */
    private static function write(mixed $value, string $where): string
    {
        if (is_float($value)) {
            throw new \TypeError("$where is a float: money is no float, use new Boon\\Amount('9.50')");
        }
        if ($value instanceof Amount) {
            return $value->isAll() ? 'null' : (string) $value;
        }
        if ($value instanceof \DateTimeInterface) {
            return self::write($value->format('Y-m-d\TH:i:s.uP'), $where);
        }
        if (is_array($value) && array_is_list($value)) {
            $each = array_map(fn ($i) => self::write($value[$i], "{$where}[$i]"), array_keys($value));
            return '[' . implode(',', $each) . ']';
        }
        if (is_array($value) || $value instanceof \stdClass) {
            $each = [];
            foreach ((array) $value as $name => $member) {
                $each[] = json_encode((string) $name, JSON_THROW_ON_ERROR) . ':' .
                    self::write($member, $where === '' ? (string) $name : "$where.$name");
            }
            return '{' . implode(',', $each) . '}';
        }
        return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    /** @internal The members of a JSON object, in which numbers with a point are Amounts; null: it is none. */
    public static function decode(string $json): ?array
    {
        $mark = bin2hex(random_bytes(8)); // which no text of the service begins with
        $marked = preg_replace_callback(
            '/"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|-?[0-9]++\.[0-9]++(?![eE0-9.])/s',
            fn (array $m) => $m[0][0] === '"' ? $m[0] : "\"$mark$m[0]\"",
            $json,
        );
        $said = json_decode($marked ?? '', true, 64, JSON_BIGINT_AS_STRING);
        if (!is_array($said) || !str_starts_with(ltrim($json), '{')) {
            return null;
        }
        array_walk_recursive($said, function (mixed &$value) use ($mark): void {
            if (is_string($value) && str_starts_with($value, $mark)) {
                $value = new Amount(substr($value, strlen($mark)));
            }
        });
        return $said;
    }
}

/** @internal The request may have arrived, and no answer came. */
final class NoAnswer extends \RuntimeException
{
}

/**
 * Tells whether the service sent this message of a webhook, less than five minutes ago. $headers are those of
 * getallheaders(), $body is what came, unchanged.
 */
function verify(#[\SensitiveParameter] string $secret, array $headers, string $body, ?int $now = null): bool
{
    $named = array_change_key_case($headers);
    $id = (string) ($named['webhook-id'] ?? '');
    $sent = (string) ($named['webhook-timestamp'] ?? '');
    $key = base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true);
    if ($key === false || strlen($key) < 16) {
        throw new \ValueError('the secret is not one of a webhook');
    }
    if ($id === '' || !preg_match('/^[0-9]{1,12}$/D', $sent) || abs(($now ?? time()) - (int) $sent) > 300) {
        return false;
    }
    $want = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
    $good = false;
    foreach (explode(' ', (string) ($named['webhook-signature'] ?? '')) as $signature) {
        $good = hash_equals($want, $signature) || $good;
    }
    return $good;
}

/** The event in a message, amounts as Amount; BadSignature where verify() is false. */
function readEvent(#[\SensitiveParameter] string $secret, array $headers, string $body): array
{
    if (!verify($secret, $headers, $body)) {
        throw new BadSignature("the message is not one of Boon's, or old");
    }
    return Client::decode($body) ?? throw new BadSignature('the message is no event');
}
