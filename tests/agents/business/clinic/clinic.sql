CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, phone TEXT, card_balance REAL, diagnosis TEXT);
CREATE TABLE visits (id TEXT, patient_id INTEGER, department TEXT, doctor TEXT, starts_at TEXT, status TEXT, queue INTEGER);
CREATE TABLE bills (id TEXT, patient_id INTEGER, item TEXT, amount REAL, status TEXT, billed_at TEXT);
CREATE TABLE reports (id TEXT, patient_id INTEGER, item TEXT, status TEXT, taken_at TEXT, ready_at TEXT);
INSERT INTO patients VALUES (7, '周明', '13900000007', 66.5, 'x'), (8, '吴静', '13900000008', 10, 'y');
INSERT INTO visits VALUES
  ('GH20261201001', 7, '口腔科', '李医生', '2026-12-01 09:30:00', 'booked', 12),
  ('GH20261110002', 7, '内科', '王医生', '2026-11-10 14:00:00', 'done', NULL),
  ('GH20260815003', 7, '皮肤科', '赵医生', '2026-08-15 10:00:00', 'cancelled', NULL),
  ('GH20261202004', 8, '内科', '王医生', '2026-12-02 08:30:00', 'booked', 3);
INSERT INTO bills VALUES
  ('JF2026111001', 7, '血常规', 35, 'paid', '2026-11-10 14:20:00'),
  ('JF2026111002', 7, '胸片', 120, 'open', '2026-11-10 14:25:00'),
  ('JF2026081501', 7, '药费', 88.5, 'paid', '2026-08-15 10:30:00'),
  ('JF2026112001', 8, '核磁', 600, 'open', '2026-11-20 09:00:00');
INSERT INTO reports VALUES
  ('BG2026111001', 7, '血常规', 'ready', '2026-11-10 14:40:00', '2026-11-10 16:00:00'),
  ('BG2026111002', 7, '胸片', 'waiting', '2026-11-11 09:00:00', NULL),
  ('BG2026112001', 8, '核磁', 'ready', '2026-11-20 09:30:00', '2026-11-21 09:30:00');
