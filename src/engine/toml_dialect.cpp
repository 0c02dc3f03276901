#include "engine/toml_dialect.h"

namespace ctkit::engine {

constexpr TomlDialect kGoToml18{
    .grammar = TomlDialect::Grammar::go_toml_1,
    .dates_by_pattern = true,
    .underscores_by_pattern = true,
};

constexpr TomlDialect kGoToml194{
    .grammar = TomlDialect::Grammar::go_toml_1,
};

constexpr TomlDialect kGoToml19OfGo119{
    .grammar = TomlDialect::Grammar::go_toml_1,
    .large_unsigned_integers = true,
};

constexpr TomlDialect kGoToml19{
    .grammar = TomlDialect::Grammar::go_toml_1,
    .large_unsigned_integers = true,
    .long_fractions = true,
};

constexpr TomlDialect kGoToml22{
    .grammar = TomlDialect::Grammar::toml_1_0,
    .leap_seconds = true,
    .second_digit_unseen = true,
    .unplaced_tables_unchecked = true,
    .dotted_keys_extend_implied = true,
};

constexpr TomlDialect kGoToml23{
    .grammar = TomlDialect::Grammar::toml_1_0,
    .second_digit_unseen = true,
    .unplaced_tables_unchecked = true,
    .dotted_keys_extend_implied = true,
};

constexpr TomlDialect kGoToml24{
    .grammar = TomlDialect::Grammar::toml_1_0,
    .hex_escapes = true,
    .inline_tables_span_lines = true,
    .seconds_optional = true,
};

constexpr TomlDialect kBurntSushi11{
    .grammar = TomlDialect::Grammar::burntsushi,
    .line_by_line_strings = true,
    .flat_inline_copies = true,
};

constexpr TomlDialect kBurntSushi13{
    .grammar = TomlDialect::Grammar::burntsushi,
    .byte_order_mark = true,
    .flat_inline_copies = true,
};

constexpr TomlDialect kBurntSushi16{
    .grammar = TomlDialect::Grammar::burntsushi,
    .hex_escapes = true,
    .inline_tables_span_lines = true,
    .seconds_optional = true,
    .byte_order_mark = true,
};

}  // namespace ctkit::engine
