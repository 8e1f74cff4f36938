package import ManagedObjects

extension SQLQueryBuilder {
  /// The condition as SQL, in parentheses where AND and OR require them.
  package mutating func condition(_ predicate: ResolvedPredicate) throws(SQLCompilerError) -> String {
    switch predicate {
    case .constant(let holds): return holds ? Dialect.everything : Dialect.nothing
    case .and(let parts): return parts.isEmpty ? Dialect.everything : try joined(parts, " AND ")
    case .or(let parts): return parts.isEmpty ? Dialect.nothing : try joined(parts, " OR ")
    case .not(let inner): return "(\(try condition(inner))) IS NOT TRUE"
    case .exists(let collection, let predicate): return try exists(collection, predicate)
    case .compare, .isIn, .text, .like, .matches: return try Dialect.leaf(predicate, &self)
    }
  }

  /// SQLite allows a depth of 1,000, and `a AND b AND c …` is as deep as it is long. A balanced tree is much less deep.
  private mutating func joined(
    _ parts: some RandomAccessCollection<ResolvedPredicate>, _ word: String
  ) throws(SQLCompilerError) -> String {
    if parts.count > 200 {
      let middle = parts.index(parts.startIndex, offsetBy: parts.count / 2)
      let first = try joined(Array(parts[..<middle]), word)
      return "(\(first)\(word)\(try joined(Array(parts[middle...]), word)))"
    }
    var conditions: [String] = []
    for part in parts { conditions.append(try condition(part)) }
    return conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: word)))"
  }
}

extension ResolvedPredicate.Relation {
  /// The operator in SQL, which is unknown for NULL.
  package var `operator`: String {
    switch self {
    case .equal: return "="
    case .notEqual: return "<>"
    case .less: return "<"
    case .lessOrEqual: return "<="
    case .greater: return ">"
    case .greaterOrEqual: return ">="
    }
  }
}

/// Strings with a prefix are a range in the order of their UTF-8 bytes, which is also the order of their scalars.
package enum PrefixRange {
  /// The first string after all that begin with `prefix`; nil if there is none.
  package static func end(of prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The scalar after D7FF is E000: between them stand the surrogates, which UTF-8 doesn't have.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let successor = Unicode.Scalar(next) {
        scalars.append(successor)
        return String(String.UnicodeScalarView(scalars))
      }
    }
    return nil
  }
}
