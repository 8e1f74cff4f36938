extension FetchPredicate {
  /// Reads `format`, in Core Data's format language.
  ///
  /// Understood are `=` `==` `!=` `<>` `<` `<=` `=<` `>` `>=` `=>`, `IN`, `BETWEEN`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE`
  /// and `MATCHES` (each with `[c]`, `[d]` or `[cd]`), `AND`/`&&`, `OR`/`||`, `NOT`/`!`, parentheses, `TRUEPREDICATE`,
  /// `FALSEPREDICATE`; key paths with dots, `SELF`, `#name` for a name that is a keyword; strings in either quotes with the
  /// escapes `\\ \' \" \/ \n \r \t \0 \uXXXX`; numbers, `TRUE`, `FALSE`, `YES`, `NO`, `NIL`, `NULL`; lists `{…}`; and the
  /// placeholders `%@`, `%K`, `%d`, `%i`, `%u`, `%ld`, `%lu`, `%lld`, `%llu`, `%f`, `%lf`, `%g`, `%s`. Keywords may be in
  /// upper or lower case. Nothing is substituted inside quotes.
  ///
  /// - Parameter arguments: one for each placeholder; see ``PredicateArgument/init(_:)`` for the types.
  /// - Throws: ``PredicateFormatError`` with the place and what was expected there.
  public init(format: String, _ arguments: (any Sendable)?...) throws(PredicateFormatError) {
    var converted: [PredicateArgument] = []
    for (index, any) in arguments.enumerated() {
      guard let argument = PredicateArgument(any) else {
        let type = any.map { String(describing: Swift.type(of: $0)) } ?? "nil"
        throw PredicateFormatError(
          .argument("argument \(index + 1) is a \(type), which no placeholder takes"), format: format, offset: 0)
      }
      converted.append(argument)
    }
    try self.init(format: format, arguments: converted)
  }

  /// Reads `format`, in Core Data's format language; see ``init(format:_:)``.
  public init(format: String, arguments: [PredicateArgument]) throws(PredicateFormatError) {
    var parser = try PredicateParser(format, arguments: arguments)
    self = try parser.parse()
  }
}
