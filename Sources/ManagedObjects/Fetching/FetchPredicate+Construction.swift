extension FetchPredicate {
  /// Compares `left` with `right`.
  public static func comparison(
    _ left: Expression, _ operator: Operator, _ right: Expression, options: Options = []
  ) -> FetchPredicate {
    .comparison(Comparison(left, `operator`, right, options: options))
  }

  /// The value at `path` is `value`.
  public static func equal(_ path: String, _ value: Value, options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .equal, .constant(value), options: options)
  }

  /// The value at `path` isn't `value`.
  public static func notEqual(_ path: String, _ value: Value, options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .notEqual, .constant(value), options: options)
  }

  /// The value at `path` is one of `values`.
  public static func isIn(_ path: String, _ values: [Value], options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .isIn, .constants(values), options: options)
  }

  /// The value at `path` is at least `low` and at most `high`.
  public static func between(_ path: String, _ low: Value, _ high: Value) -> FetchPredicate {
    .comparison(.path(path), .between, .constants([low, high]))
  }

  /// True when both predicates are.
  public static func && (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate { .and([a, b]) }
  /// True when at least one predicate is.
  public static func || (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate { .or([a, b]) }
  /// True when the other predicate is false.
  public static prefix func ! (a: FetchPredicate) -> FetchPredicate { .not(a) }
}
