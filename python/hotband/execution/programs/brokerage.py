"""A broker's database in SQL, and the ten transactions on it.

The transactions and their shares are those of TPC-E (specification, not verified); tables are cut down to what the
transactions touch, and rows per customer to what a test can load. The content of each transaction is our choice: the
rows that it reads and changes are chosen so that eight clients on a database ten times as large as the server's memory
read about 9.7 pages for a page written, as Chen et al. measured for TPC-E (SIGMOD Record 39(3), 2011). Measured here:
8.3 to 10.8 (the former after 90,000 transactions, when pages have no room for new versions left). Customers and trades
are picked evenly; in TPC-E some are picked more often.
"""

from __future__ import annotations

ACCOUNTS = 5
"""Accounts a customer (TPC-E: 5 on average)."""
TRADES = 100
"""Trades an account at the start. TPC-E has 3,456 (17,280 a customer), which would take hours to load."""
HOLDINGS = 10
"""Securities that an account holds: assumed, range 5 to 20."""
DAYS = 250
"""Days of prices a security; TPC-E has 1,305."""
SECURITIES = 0.685
"""Securities a customer (TPC-E)."""
PER_BROKER = 100
"""Customers a broker (TPC-E)."""


def securities_of(customers: int) -> int:
    """Securities of a market of this many customers."""
    return max(2 * HOLDINGS, round(customers * SECURITIES))


def schema(customers: int) -> str:
    """The tables, filled. A tenth of a page that is updated is left free, so that a new version of a row fits next to
    the old one."""
    accounts, securities = customers * ACCOUNTS, securities_of(customers)
    trades, brokers = accounts * TRADES, max(1, customers // PER_BROKER)
    return f"""
SELECT setseed(0.5);
CREATE TABLE broker (b_id int PRIMARY KEY, b_volume bigint, b_name char(49));
INSERT INTO broker SELECT g, 0, 'broker' FROM generate_series(1, {brokers}) g;
CREATE TABLE customer (c_id int PRIMARY KEY, c_data char(240));
INSERT INTO customer SELECT g, 'customer' FROM generate_series(1, {customers}) g;
CREATE TABLE account (a_id int, a_customer int, a_broker int, a_balance bigint, a_name char(60)) WITH (fillfactor = 90);
INSERT INTO account SELECT g, 1 + (g - 1) / {ACCOUNTS}, 1 + g % {brokers}, 100000, 'account'
 FROM generate_series(1, {accounts}) g;
ALTER TABLE account ADD PRIMARY KEY (a_id);
CREATE INDEX account_customer ON account (a_customer);
CREATE TABLE security (s_id int PRIMARY KEY, s_data char(200));
INSERT INTO security SELECT g, 'security' FROM generate_series(1, {securities}) g;
CREATE TABLE last_trade (l_security int PRIMARY KEY, l_price int, l_volume bigint) WITH (fillfactor = 50);
INSERT INTO last_trade SELECT g, 100, 0 FROM generate_series(1, {securities}) g;
CREATE TABLE daily (d_security int, d_day int, d_close int, d_high int, d_low int, d_volume bigint);
INSERT INTO daily SELECT s, d, 100, 101, 99, 1000 FROM generate_series(1, {securities}) s, generate_series(1, {DAYS}) d;
ALTER TABLE daily ADD PRIMARY KEY (d_security, d_day);
CREATE TABLE holding (h_account int, h_security int, h_quantity int, h_data char(40)) WITH (fillfactor = 90);
INSERT INTO holding SELECT a, 1 + (a * 7 + h * 13) % {securities}, 100, 'holding'
 FROM generate_series(1, {accounts}) a, generate_series(1, {HOLDINGS}) h;
CREATE INDEX holding_account ON holding (h_account);
CREATE SEQUENCE trade_ids START {trades + 1};
CREATE TABLE trade (t_id bigint DEFAULT nextval('trade_ids'), t_account int, t_security int, t_quantity int,
 t_price int, t_done boolean, t_time timestamp DEFAULT now(), t_name char(49)) WITH (fillfactor = 90);
INSERT INTO trade SELECT g, 1 + floor(random() * {accounts}), 1 + floor(random() * {securities}), 100, 100, true,
 now(), 'trade' FROM generate_series(1, {trades}) g;
ALTER TABLE trade ADD PRIMARY KEY (t_id);
CREATE INDEX trade_account ON trade (t_account, t_id);
VACUUM ANALYZE;
"""


WEIGHTS = {
    "broker-volume": 49,
    "customer-position": 130,
    "market-feed": 10,
    "market-watch": 180,
    "security-detail": 140,
    "trade-lookup": 80,
    "trade-order": 101,
    "trade-result": 100,
    "trade-status": 190,
    "trade-update": 20,
}
"""Shares of the transactions in thousandths (TPC-E, not verified): 23.1 % of them write."""

LATEST = 8
"""Trades that Trade-Status shows, and half as many of Customer-Position (TPC-E: 50 and 10 to 30). Together with the
next two this sets pages read per page written."""
LOOKED_UP = 10
"""Trades of one Trade-Lookup (TPC-E: 20)."""
CHANGED = 20
"""Trades that one Trade-Update changes (TPC-E: 20)."""

_SCRIPTS = {
    "broker-volume": """
\\set b random(1, :brokers)
SELECT b_name, b_volume FROM broker WHERE b_id BETWEEN :b AND :b + 20;
""",
    "customer-position": """
\\set c random(1, :customers)
\\set a (:c - 1) * 5 + 1
SELECT c_data FROM customer WHERE c_id = :c;
SELECT a_id, a_balance, sum(h_quantity * l_price) FROM account JOIN holding ON h_account = a_id
 JOIN last_trade ON l_security = h_security WHERE a_customer = :c GROUP BY a_id, a_balance;
SELECT t_id, t_price FROM trade WHERE t_account = :a ORDER BY t_id DESC LIMIT :position;
""",
    "market-feed": """
\\set s random(1, :securities - 20)
UPDATE last_trade SET l_price = l_price + 1, l_volume = l_volume + 100 WHERE l_security BETWEEN :s AND :s + 19;
""",
    "market-watch": """
\\set a random(1, :accounts)
\\set d random(1, 250)
SELECT sum(l_price * h_quantity), sum(d_close * h_quantity) FROM holding JOIN last_trade ON l_security = h_security
 JOIN daily ON d_security = h_security AND d_day = :d WHERE h_account = :a;
""",
    "security-detail": """
\\set s random(1, :securities)
\\set d random(1, 230)
SELECT s_data, l_price FROM security JOIN last_trade ON l_security = s_id WHERE s_id = :s;
SELECT d_day, d_close, d_volume FROM daily WHERE d_security = :s AND d_day BETWEEN :d AND :d + 19;
""",
    "trade-lookup": """
\\set t random(1, :trades)
SELECT count(t_price) FROM generate_series(1, :looked_up) g
 JOIN trade ON t_id = 1 + (:t * 7919::bigint * g) % :trades;
""",
    "trade-order": """
\\set a random(1, :accounts)
\\set s random(1, :securities)
BEGIN;
SELECT a_balance, c_data FROM account JOIN customer ON c_id = a_customer WHERE a_id = :a;
SELECT h_quantity FROM holding WHERE h_account = :a;
SELECT l_price FROM last_trade WHERE l_security = :s;
INSERT INTO trade (t_account, t_security, t_quantity, t_price, t_done, t_name)
 VALUES (:a, :s, 100, 100, false, 'order');
COMMIT;
""",
    "trade-result": """
\\set a random(1, :accounts)
BEGIN;
UPDATE trade SET t_done = true, t_price = 101
 WHERE t_id = (SELECT t_id FROM trade WHERE t_account = :a ORDER BY t_id DESC LIMIT 1);
UPDATE holding SET h_quantity = h_quantity + 100
 WHERE ctid = (SELECT ctid FROM holding WHERE h_account = :a LIMIT 1);
UPDATE account SET a_balance = a_balance - 10000 WHERE a_id = :a;
COMMIT;
""",
    "trade-status": """
\\set a random(1, :accounts)
SELECT t_id, t_done, t_price, s_data FROM trade JOIN security ON s_id = t_security
 WHERE t_account = :a ORDER BY t_id DESC LIMIT :latest;
""",
    "trade-update": """
\\set t random(1, :trades)
UPDATE trade SET t_name = 'changed' WHERE t_id IN
 (SELECT 1 + (:t * 7919::bigint * g) % :trades FROM generate_series(1, :changed) g);
""",
}


def variables(customers: int) -> dict[str, int]:
    """Return the variables that the scripts use."""
    accounts = customers * ACCOUNTS
    return {
        "customers": customers,
        "accounts": accounts,
        "trades": accounts * TRADES,
        "securities": securities_of(customers),
        "brokers": max(1, customers // PER_BROKER),
        "latest": LATEST,
        "position": LATEST // 2,
        "looked_up": LOOKED_UP,
        "changed": CHANGED,
    }


def scripts() -> dict[str, str]:
    """The transactions, as scripts of pgbench."""
    return {name: _SCRIPTS[name].lstrip() for name in WEIGHTS}
