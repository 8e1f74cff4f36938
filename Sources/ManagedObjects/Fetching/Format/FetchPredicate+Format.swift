extension FetchPredicate {
  /// Parses `format`, in Core Data's format language.
  ///
  /// It understands
  /// - `=` `==` `!=` `<>` `<` `<=` `=<` `>` `>=` `=>`, `IN`, `BETWEEN`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` and
  ///   `MATCHES`, each with any of `[cdnl]`; before them `ANY` or `SOME`, `ALL`, `NONE` over a to-many relationship;
  /// - `AND`/`&&`, `OR`/`||`, `NOT`/`!`, parentheses, `TRUEPREDICATE`, `FALSEPREDICATE`;
  /// - key paths with dots, with `@count`, `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects` and `@distinctUnionOfObjects`;
  ///   `SELF`, `#name` for a name that is a keyword, `objectID`, `entity.name`; variables `$name`; `tags[SIZE]`, and of
  ///   ordered relationships and lists `tracks[FIRST]`, `tracks[LAST]` and `tracks[2].title`, which counts from 0;
  /// - `+` `-` `*` `/` `**`; the functions of ``Function``, such as `abs(x)` and `modulus:by:(a, b)`; `CAST(x, "NSDate")` to the
  ///   types of ``CastType``; `TERNARY(predicate, a, b)`; `SUBQUERY(tags, $tag, $tag.label == 'x')`;
  ///   `FUNCTION(date, 'dateByAddingTimeInterval:', 60)` and with it `timeIntervalSinceDate:`, `lowercaseString`,
  ///   `uppercaseString` and `length`;
  /// - strings in either quotes with the escapes `\\ \' \" \/ \n \r \t \0 \uXXXX`; numbers, `TRUE`, `FALSE`, `YES`, `NO`, `NIL`,
  ///   `NULL`; lists `{…}`;
  /// - the placeholders `%@`, `%K`, `%d`, `%i`, `%u`, `%ld`, `%lu`, `%lld`, `%llu`, `%f`, `%lf`, `%g`, `%s`.
  ///
  /// Keywords may be in upper or lower case. Placeholders inside quotes are plain text. Constructs that no
  /// store can evaluate are refused: blocks, methods, `FETCH`.
  ///
  /// - Parameter arguments: one for each placeholder; see ``PredicateArgument/init(_:)`` for the types.
  /// - Throws: ``PredicateFormatError`` with the place and what was expected there.
  public init(format: String, _ arguments: Any?...) throws(PredicateFormatError) {
    try self.init(format: format, arguments: PredicateArgument.arguments(arguments, format: format))
  }

  /// Reads `format`, in Core Data's format language; see ``init(format:_:)``.
  public init(format: String, arguments: [PredicateArgument]) throws(PredicateFormatError) {
    var parser = try PredicateParser(format, arguments: arguments)
    self = try parser.parse()
  }
}

extension FetchPredicate.Expression {
  /// Reads an expression in Core Data's format language, such as `price * 2` or `employees.@sum.salary`; see
  /// ``FetchPredicate/init(format:_:)``.
  ///
  /// - Throws: ``PredicateFormatError`` with the place and what was expected there.
  public init(format: String, _ arguments: Any?...) throws(PredicateFormatError) {
    try self.init(format: format, arguments: PredicateArgument.arguments(arguments, format: format))
  }

  /// Reads an expression in Core Data's format language; see ``init(format:_:)``.
  public init(format: String, arguments: [PredicateArgument]) throws(PredicateFormatError) {
    var parser = try PredicateParser(format, arguments: arguments)
    self = try parser.parseExpression()
  }
}

extension PredicateArgument {
  static func arguments(
    _ all: [Any?], format: String
  ) throws(PredicateFormatError) -> [PredicateArgument] {
    var converted: [PredicateArgument] = []
    for (index, any) in all.enumerated() {
      guard let argument = PredicateArgument(any) else {
        let type = any.map { String(describing: Swift.type(of: $0)) } ?? "nil"
        throw PredicateFormatError(
          .argument("argument \(index + 1) is a \(type), which no placeholder takes"), format: format, offset: 0)
      }
      converted.append(argument)
    }
    return converted
  }
}

extension FetchPredicate: Codable {
  /// Reads a predicate in the format language.
  /// - Throws: `DecodingError` that wraps the ``PredicateFormatError``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let format = try container.decode(String.self)
    do {
      try self.init(format: format)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  /// Writes the predicate in the format language.
  /// - Throws: `EncodingError` for a comparison with objects, since IDs have no literal.
  public func encode(to encoder: any Encoder) throws {
    let format = description
    do {
      _ = try FetchPredicate(format: format)
    } catch {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
    var container = encoder.singleValueContainer()
    try container.encode(format)
  }
}
