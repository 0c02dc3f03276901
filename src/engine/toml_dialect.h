#pragma once

namespace ctkit::engine {

/// What one TOML library takes, refuses and converts: a value, so that a test can name any mix.
/// What all libraries of one grammar share is in that grammar's files.
struct TomlDialect {
  enum class Grammar {
    go_toml_1,   ///< toml_go1.h
    toml_1_0,    ///< toml_go2.h
    burntsushi,  ///< toml_burntsushi.h
  };

  Grammar grammar = Grammar::toml_1_0;

  // Rules of go_toml_1.

  /// Dates and times are cut by a pattern; else a date must be followed by a blank, `T` or nothing.
  bool dates_by_pattern = false;
  /// `_` needs digits on both sides, in hexadecimal numbers lower case ones; else one before it.
  bool underscores_by_pattern = false;
  /// Integers up to 2^64-1.
  bool large_unsigned_integers = false;
  /// More than nine digits after the seconds' point, those behind the ninth ignored: Go's time.Parse from 1.20 on.
  bool long_fractions = false;

  // Rules of toml_1_0.

  /// `\xHH`
  bool hex_escapes = false;
  /// Newlines, comments and a trailing comma in inline tables.
  bool inline_tables_span_lines = false;
  /// `07:32`
  bool seconds_optional = false;
  /// `07:32:60`
  bool leap_seconds = false;
  /// Between date and time one blank, and whatever stands behind the digit after it is part of the value (parser.go,
  /// scanDateTime, v2.2.4); else any number of blanks with a digit behind them.
  bool second_digit_unseen = false;
  /// Keys may repeat in tables that the daemon has no place for.
  bool unplaced_tables_unchecked = false;
  /// After `[a.b.c]`, `[a]` may go on with `b.d = 1`.
  bool dotted_keys_extend_implied = false;

  // Rules of burntsushi, which has the first three of toml_1_0 too; there `hex_escapes` are `\xHH` and `\e`.

  /// A UTF-8 byte order mark at the front is passed over.
  bool byte_order_mark = false;
  /// Multi-line basic strings lose the carriage return at the end of a line, and of lines after an escaped newline
  /// more.
  bool line_by_line_strings = false;
  /// An inline table that replaces an array, or stands in one, has the last part only of its dotted keys.
  bool flat_inline_copies = false;
};

/// pelletier/go-toml 1.8.1, in containerd 1.5.
extern const TomlDialect kGoToml18;
/// pelletier/go-toml 1.9.4, in Debian's containerd 1.6: as 1.9.5, but integers above int64 are refused.
extern const TomlDialect kGoToml194;
/// pelletier/go-toml 1.9.5 built by Go 1.19, in containerd to 1.6.23.
extern const TomlDialect kGoToml19OfGo119;
/// pelletier/go-toml 1.9.5, in containerd 1.6 and 1.7.
extern const TomlDialect kGoToml19;
/// pelletier/go-toml 2.2.3 and 2.2.4, in containerd 2.0 to 2.2.
extern const TomlDialect kGoToml22;
/// pelletier/go-toml 2.3.0, in containerd 2.3: as 2.2, but no leap seconds.
extern const TomlDialect kGoToml23;
/// pelletier/go-toml 2.4.3, in containerd 2.4 and in Debian's 2.1.9.
extern const TomlDialect kGoToml24;

/// BurntSushi/toml 1.1.0 and 1.2, in CRI-O 1.24 to 1.27.
extern const TomlDialect kBurntSushi11;
/// BurntSushi/toml 1.3.2 to 1.5.0, in CRI-O 1.28 to 1.35.0.
extern const TomlDialect kBurntSushi13;
/// BurntSushi/toml 1.6.0, in CRI-O from 1.35.1: TOML 1.1.
extern const TomlDialect kBurntSushi16;

}  // namespace ctkit::engine
