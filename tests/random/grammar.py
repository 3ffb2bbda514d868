"""What random programs are made of. Every production is one line of six columns:

    gives | where | weight | in Eigen | in the reference | operands

gives     the kinds of coefficient that it can give (N numbers of the program's format, F floats, B conditions) and what it
          is to Eigen: M a matrix, A an array, * either, as its operands are
where     words that must all hold of the r rows and c columns of the result: row, col (one, at compile time), tall (not
          row), run (both known only when the program runs), fix (both at compile time), open, closed (c known when the
          program runs, at compile time), float, fixed, drawn, steady (the format; drawn is stochastic); - is none
operands  name:kind-and-what rows columns; the kind ? is that of the result. Rows and columns are sums of r, c, 1, of k,
          some size of the program, and of i, j, p, q, small numbers

In the texts {x} is an operand, {r} a size, {R} that size as a template argument, {k} a literal, {f} the result's format;
SUM in front of the text of Eigen marks what adds floats up, of which instruction sets give different bits. Of floats
floor, ceil and rint are Eigen's own, which without SSE4.1 lose the sign of a zero.
"""

LITERALS = ["2", "0.5f", "0.3f", "-1.5f", "3", "0.25", "-1"]

# What writes to its operand, too, stands here; the other views below.
PLACES = """
NFB* | -   | 3 | {x}                                                 | {x}                                  | x:?* r c
NFB* | -   | 2 | {x}.template block<{R}, {C}>({i}, {j}, {r}, {c})    | part({x}, {i}, {j}, {r}, {c})        | x:?* r+i+p c+j+q
NFB* | -   | 1 | {x}.template topRows<{R}>({r})                      | part({x}, 0, 0, {r}, {c})            | x:?* r+p c
NFB* | -   | 1 | {x}.template bottomRows<{R}>({r})                   | part({x}, {p}, 0, {r}, {c})          | x:?* r+p c
NFB* | -   | 1 | {x}.template middleRows<{R}>({i}, {r})              | part({x}, {i}, 0, {r}, {c})          | x:?* r+i+p c
NFB* | -   | 1 | {x}.template leftCols<{C}>({c})                     | part({x}, 0, 0, {r}, {c})            | x:?* r c+p
NFB* | -   | 1 | {x}.template rightCols<{C}>({c})                    | part({x}, 0, {p}, {r}, {c})          | x:?* r c+p
NFB* | -   | 1 | {x}.template middleCols<{C}>({j}, {c})              | part({x}, 0, {j}, {r}, {c})          | x:?* r c+j+q
NFB* | -   | 1 | {x}.template topLeftCorner<{R}, {C}>({r}, {c})      | part({x}, 0, 0, {r}, {c})            | x:?* r+p c+q
NFB* | -   | 1 | {x}.template bottomRightCorner<{R}, {C}>({r}, {c})  | part({x}, {p}, {q}, {r}, {c})        | x:?* r+p c+q
NFB* | -   | 2 | {x}.transpose()                                     | transposed({x})                      | x:?* c r
NFB* | -   | 1 | {x}.reverse()                                       | turned({x}, 1, 1)                    | x:?* r c
NFB* | -   | 1 | {x}.colwise().reverse()                             | turned({x}, 1, 0)                    | x:?* r c
NFB* | -   | 1 | {x}.rowwise().reverse()                             | turned({x}, 0, 1)                    | x:?* r c
NFB* | row | 6 | {x}.row({i})                                        | part({x}, {i}, 0, 1, {c})            | x:?* 1+i+p c
NFB* | col | 6 | {x}.col({j})                                        | part({x}, 0, {j}, {r}, 1)            | x:?* r 1+j+q
NFB* | col | 2 | {x}.template segment<{R}>({i}, {r})                 | part({x}, {i}, 0, {r}, 1)            | x:?* r+i+p 1
NFB* | col | 2 | {x}.template head<{R}>({r})                         | part({x}, 0, 0, {r}, 1)              | x:?* r+p 1
NFB* | row open   | 2 | {x}.tail({c})                               | part({x}, 0, {q}, 1, {c})            | x:?* 1 c+q
NFB* | row closed | 2 | {x}.template tail<{C}>()                    | part({x}, 0, {q}, 1, {c})            | x:?* 1 c+q
NFBM | col | 3 | {x}.diagonal()                                      | diagonal({x})                        | x:?M r r+p
NFBM | col | 1 | {x}.diagonal()                                      | diagonal({x})                        | x:?M r+p r
NFBA | -   | 1 | {x}.array()                                         | {x}                                  | x:?M r c
NFBM | -   | 1 | {x}.matrix()                                        | {x}                                  | x:?A r c
NFB* | run | 1 | {x}(Eigen::seqN({i}, {r}), Eigen::all)              | part({x}, {i}, 0, {r}, {c})          | x:?* r+i+p c
NFB* | run | 1 | {x}(Eigen::seqN({i}, {r}), Eigen::seqN({c} - 1, {c}, Eigen::fix<-1>)) | turned(part({x}, {i}, 0, {r}, {c}), 0, 1) | x:?* r+i+p c+q
"""

VIEWS = """
NFB* | run | 1 | {x}.reshaped({r}, {c})                              | reshaped({x}, {r}, {c})              | x:?* c r
NFB* | run | 2 | {x}(Eigen::all, mixed({c}))                          | mixed_columns({x})                   | x:?* r c
NFB* | run | 2 | {x}(mixed({r}), Eigen::all)                          | transposed(mixed_columns(transposed({x}))) | x:?* r c
NFB* | run | 1 | {x}.rowwise().replicate({c})                        | spread({x}, {r}, {c})                | x:?* r 1
NFB* | run | 1 | {x}.colwise().replicate({r})                        | spread({x}, {r}, {c})                | x:?* 1 c
NFB* | fix | 1 | {x}.template replicate<{R}, 1>()                    | spread({x}, {r}, {c})                | x:?* 1 c
NFB* | -   | 2 | {x}.eval()                                          | stored({x})                          | x:?* r c
"""

COEFFICIENTS = """
NF*  | -     | 9 | ({x} + {y})                       | plus({x}, {y})                     | x:?* r c, y:?* r c
NF*  | -     | 9 | ({x} - {y})                       | minus({x}, {y})                    | x:?* r c, y:?* r c
NFA  | -     | 9 | ({x} * {y})                       | times({x}, {y})                    | x:?A r c, y:?A r c
NFA  | -     | 5 | ({x} / {y})                       | over({x}, {y})                     | x:?A r c, y:?A r c
NFM  | -     | 5 | {x}.cwiseProduct({y})             | times({x}, {y})                    | x:?M r c, y:?M r c
NFM  | -     | 3 | {x}.cwiseQuotient({y})            | over({x}, {y})                     | x:?M r c, y:?M r c
NFM  | -     | 3 | {x}.cwiseMin({y})                 | smaller({x}, {y})                  | x:?M r c, y:?M r c
NFM  | -     | 3 | {x}.cwiseMax({y})                 | larger({x}, {y})                   | x:?M r c, y:?M r c
NFA  | -     | 3 | ({x}.min)({y})                    | smaller({x}, {y})                  | x:?A r c, y:?A r c
NFA  | -     | 3 | ({x}.max)({y})                    | larger({x}, {y})                   | x:?A r c, y:?A r c
NFA  | -     | 3 | ({x}.max)({T}({k}))               | larger({x}, constant({f}, {r}, {c}, {k})) | x:?A r c
NFM  | -     | 2 | {x}.cwiseMin({T}({k}))            | smaller({x}, constant({f}, {r}, {c}, {k})) | x:?M r c
NF*  | -     | 5 | ({k} * {x})                       | times({x}, {k})                    | x:?* r c
NF*  | -     | 3 | ({x} * {k})                       | times({x}, {k})                    | x:?* r c
NF*  | -     | 3 | ({x} / {k})                       | over({x}, {k})                     | x:?* r c
NFA  | -     | 4 | ({x} + {k})                       | plus({x}, {k})                     | x:?A r c
NFA  | -     | 2 | ({k} - {x})                       | minus({k}, {x})                    | x:?A r c
NFA  | -     | 2 | ({x} - {k})                       | minus({x}, {k})                    | x:?A r c
NFA  | -     | 2 | ({k} / {x})                       | over({k}, {x})                     | x:?A r c
NF*  | -     | 4 | (-{x})                            | negative({x})                      | x:?* r c
NFA  | -     | 2 | {x}.abs()                         | absolute({x})                      | x:?A r c
NFM  | -     | 2 | {x}.cwiseAbs()                    | absolute({x})                      | x:?M r c
NFA  | -     | 2 | {x}.square()                      | square({x})                        | x:?A r c
NFM  | -     | 2 | {x}.cwiseAbs2()                   | square({x})                        | x:?M r c
NFA  | -     | 2 | {x}.cube()                        | cube({x})                          | x:?A r c
NFA  | -     | 2 | {x}.inverse()                     | over(1, {x})                       | x:?A r c
NFA  | -     | 2 | {x}.sqrt()                        | root({x})                          | x:?A r c
NFM  | -     | 1 | {x}.cwiseAbs().cwiseSqrt()        | root(absolute({x}))                | x:?M r c
NA   | -     | 3 | {x}.floor()                       | down({x})                          | x:NA r c
NA   | -     | 3 | {x}.ceil()                        | up({x})                            | x:NA r c
NFA  | -     | 3 | {x}.round()                       | nearest_away({x})                  | x:?A r c
NA   | -     | 3 | {x}.rint()                        | nearest_even({x})                  | x:NA r c
NFA  | -     | 2 | {x}.sign()                        | sign({x})                          | x:?A r c
NFA  | -     | 3 | {x}.exp()                         | function({x}, std::exp)            | x:?A r c
NFA  | -     | 3 | {x}.log()                         | function({x}, std::log)            | x:?A r c
NFA  | -     | 3 | {x}.tanh()                        | function({x}, std::tanh)           | x:?A r c
NFA  | -     | 3 | {x}.atan()                        | function({x}, std::atan)           | x:?A r c
NFA  | -     | 3 | {x}.expm1()                       | function({x}, std::expm1)          | x:?A r c
NFA  | -     | 3 | {x}.sin()                         | wave({x}, std::sin)                | x:?A r c
NA   | -     | 3 | {x}.logistic()                    | function({x}, logistic)            | x:?A r c
NF*  | -     | 5 | {b}.select({x}, {y})              | chosen({b}, {x}, {y})              | b:B* r c, x:?* r c, y:?* r c
NF*  | -     | 3 | {b}.select({x}, {T}({k}))         | chosen({b}, {x}, constant({f}, {r}, {c}, {k})) | b:B* r c, x:?* r c
NF*  | -     | 3 | {b}.select({T}({k}), {x})         | chosen({b}, constant({f}, {r}, {c}, {k}), {x}) | b:B* r c, x:?* r c
NF*  | -     | 2 | {b}.template cast<{T}>()          | stored({b}, {f})                   | b:B* r c
F*   | -     | 6 | {x}.template cast<float>()        | valued({x}, {f})                   | x:N* r c
N*   | -     | 2 | {x}.template cast<S>()            | stored({x}, {f})                   | x:F* r c
F*   | -     | 2 | ({x} + {y})                       | plus({x}, {y})                     | x:N* r c, y:F* r c
FA   | -     | 2 | ({x} * {y})                       | times({x}, {y})                    | x:F* r c, y:N* r c
NFA  | -     | 2 | ({x}.colwise() * {v})             | times({x}, spread({v}, {r}, {c}))  | x:?A r c, v:?A r 1
NFA  | -     | 2 | ({x}.rowwise() / {v})             | over({x}, spread({v}, {r}, {c}))   | x:?A r c, v:?A 1 c
NF*  | -     | 3 | ({x}.colwise() + {v})             | plus({x}, spread({v}, {r}, {c}))   | x:?* r c, v:?* r 1
NF*  | -     | 3 | ({x}.rowwise() - {v})             | minus({x}, spread({v}, {r}, {c}))  | x:?* r c, v:?* 1 c
NFM  | -     | 2 | ({v}.asDiagonal() * {x})          | times({x}, spread({v}, {r}, {c}))  | x:?M r c, v:?M r 1
NFM  | -     | 2 | ({x} * {v}.asDiagonal())          | times({x}, spread(transposed({v}), {r}, {c})) | x:?M r c, v:?M c 1
NFM  | -     | 3 | Matrix<{T}, {R}, {C}>::Identity({r}, {c}) | identity({f}, {r}, {c})    | -
NFM  | -     | 1 | Matrix<{T}, {R}, {C}>::Constant({r}, {c}, {T}({k})) | constant({f}, {r}, {c}, {k}) | -
"""

CONDITIONS = """
BA   | -     | 4 | ({x} < {y})                       | compared({x}, less, {y})           | x:NA r c, y:NA r c
BA   | -     | 2 | ({x} > {y})                       | compared({y}, less, {x})           | x:NA r c, y:NA r c
BA   | -     | 2 | ({x} <= {y})                      | compared({x}, not_greater, {y})    | x:NA r c, y:NA r c
BA   | -     | 2 | ({x} >= {y})                      | compared({y}, not_greater, {x})    | x:NA r c, y:NA r c
BA   | -     | 2 | ({x} == {y})                      | compared({x}, equal, {y})          | x:NA r c, y:NA r c
BA   | -     | 2 | ({x} != {y})                      | opposite(compared({x}, equal, {y})) | x:NA r c, y:NA r c
BA   | -     | 1 | ({x} < {y})                       | compared({x}, less, {y})           | x:FA r c, y:FA r c
BA   | -     | 3 | ({x} < S({k}))                    | compared({x}, less, constant({n}, {r}, {c}, {k})) | x:NA r c
BA   | -     | 2 | ({x} >= S({k}))                   | compared(constant({n}, {r}, {c}, {k}), not_greater, {x}) | x:NA r c
BA   | -     | 1 | (S({k}) == {x})                   | compared(constant({n}, {r}, {c}, {k}), equal, {x}) | x:NA r c
BM   | -     | 2 | ({x}.cwiseEqual({y}))             | compared({x}, equal, {y})          | x:NM r c, y:NM r c
BA   | -     | 2 | {x}.isNaN()                       | is_nan({x})                        | x:NA r c
BA   | -     | 1 | {x}.isInf()                       | is_infinite({x})                   | x:NA r c
BA   | -     | 1 | {x}.isFinite()                    | both(opposite(is_nan({x})), opposite(is_infinite({x}))) | x:NA r c
BA   | -     | 3 | (!{a})                            | opposite({a})                      | a:BA r c
BA   | -     | 3 | ({a} && {b})                      | both({a}, {b})                     | a:BA r c, b:BA r c
BA   | -     | 3 | ({a} || {b})                      | either({a}, {b})                   | a:BA r c, b:BA r c
"""

PRODUCTS = """
NM | float | 6 | SUM ({x} * {y})                       | product({x}, {y})                  | x:NM r k, y:NM k c
NM | fixed | 6 | ({x} * {y}).eval()                    | product({x}, {y})                  | x:NM r k, y:NM k c
NM | float | 2 | SUM ({x}.transpose() * {y})           | product(transposed({x}), {y})      | x:NM k r, y:NM k c
NM | float | 2 | SUM ({x} * {y}.transpose())           | product({x}, transposed({y}))      | x:NM r k, y:NM c k
NM | float | 2 | SUM ({k} * {x} * {y})                 | product({x}, {y}, {k})             | x:NM r k, y:NM k c
NM | float | 1 | SUM {x}.lazyProduct({y})              | product({x}, {y})                  | x:NM r k, y:NM k c
NM | float | 1 | SUM ({x}.template triangularView<Eigen::Lower>() * {y}) | product(triangle({x}, 1, 0, 0), {y}) | x:NM r r, y:NM r c
NM | float tall | 1 | SUM ({x}.template selfadjointView<Eigen::Upper>() * {y}) | product(triangle({x}, 0, 0, 1), {y}) | x:NM r r, y:NM r c
FM | float | 2 | SUM ({x} * {y})                       | product({x}, {y})                  | x:NM r k, y:FM k c
N* | row   | 3 | SUM {x}.colwise().sum()               | sums({x}, 1)                       | x:N* k c
N* | col   | 3 | SUM {x}.rowwise().sum()               | sums({x}, 0)                       | x:N* r k
NM | row float | 2 | SUM {x}.colwise().squaredNorm()   | sums(square({x}), 1)               | x:NM k c
NM | col float | 2 | SUM {x}.rowwise().norm()          | root(sums(square({x}), 0))         | x:NM r k
N* | row   | 1 | SUM {x}.colwise().mean()              | over(sums({x}, 1), constant({f}, 1, {c}, static_cast<double>({x}.rows))) | x:N* k+1 c
N* | row   | 2 | {x}.colwise().maxCoeff()              | largest({x}, 1)                    | x:N* k+1 c
N* | col   | 2 | {x}.rowwise().minCoeff()              | smallest({x}, 0)                   | x:N* r k+1
N* | col   | 1 | SUM {x}.rowwise().prod()              | products({x}, 0)                   | x:N* r k+1
N* | row   | 1 | SUM {x}.colwise().prod()              | products({x}, 1)                   | x:N* k+1 c
B* | row   | 1 | {b}.colwise().any()                   | any_holds({b}, 1)                  | b:B* k c
B* | col   | 1 | {b}.rowwise().all()                   | all_hold({b}, 0)                   | b:B* r k
"""

# Statements: the destination {d} has r rows and c columns, {d.r} is what the reference knows of it. The text of the
# reference is all of {d} afterwards; {at} are the places of {d} that {to}, a view of it, shows, and has r x c.
STATEMENTS = """
NF* | -     | 9 | {to} = {x}                           | written({d.r}, {at}, {x})                                    | x:?* r c
NF* | -     | 3 | {to} += {x}                          | written({d.r}, {at}, plus(read({d.r}, {at}), {x}))           | x:?* r c
NF* | -     | 3 | {to} -= {x}                          | written({d.r}, {at}, minus(read({d.r}, {at}), {x}))          | x:?* r c
NFA | -     | 2 | {to} *= {x}                          | written({d.r}, {at}, times(read({d.r}, {at}), {x}))          | x:?A r c
NFA | -     | 2 | {to} /= {x}                          | written({d.r}, {at}, over(read({d.r}, {at}), {x}))           | x:?A r c
F*  | float | 4 | {to} = {x}                           | written({d.r}, {at}, {x})                                    | x:N* r c
F*  | float | 3 | {to} -= {x}                          | written({d.r}, {at}, minus(read({d.r}, {at}), valued({x}, {f}))) | x:N* r c
N*  | -     | 2 | {to} = {x}                           | written({d.r}, {at}, {x})                                    | x:F* r c
N*  | float | 2 | {to} -= {x}.template cast<S>()       | written({d.r}, {at}, minus(read({d.r}, {at}), valued({x}, {f}))) | x:F* r c
N*  | -     | 1 | {to} += {x}                          | written({d.r}, {at}, plus(valued(read({d.r}, {at}), reference::format_of<float>()), {x})) | x:F* r c
B*  | -     | 3 | {to} = {x}                           | written({d.r}, {at}, {x})                                    | x:B* r c
NM  | -     | 4 | SUM {to} = {x} * {y}                 | written({d.r}, {at}, product({x}, {y}, 1, read({d.r}, {at}), 0))  | x:NM r k, y:NM k c
NM  | -     | 2 | SUM {to} = {x} * {y}.transpose()     | written({d.r}, {at}, product({x}, transposed({y}), 1, read({d.r}, {at}), 0)) | x:NM r k, y:NM c k
NM  | -     | 2 | SUM {to} += {x} * {y}                | written({d.r}, {at}, product({x}, {y}, 1, read({d.r}, {at}), 1))  | x:NM r k, y:NM k c
NM  | -     | 2 | SUM {to}.noalias() -= {x} * {y}      | written({d.r}, {at}, product({x}, {y}, -1, read({d.r}, {at}), 1)) | x:NM r k, y:NM k c
NM  | -     | 2 | SUM {to}.noalias() += {k} * {x} * {y} | written({d.r}, {at}, product({x}, {y}, {k}, read({d.r}, {at}), 1)) | x:NM r k, y:NM k c
FM  | float | 3 | SUM {to} = {x} * {y}                 | written({d.r}, {at}, product({x}, {y}))                      | x:NM r k, y:NM k c
FM  | float | 2 | SUM {to} -= {k} * ({x} * {y})        | written({d.r}, {at}, minus(read({d.r}, {at}), valued(product({x}, {y}, {k}), {f}))) | x:NM r k, y:NM k c
NF* | -     | 1 | {to} *= {T}({k})                     | written({d.r}, {at}, times(read({d.r}, {at}), constant({f}, {r}, {c}, {k}))) | -
NF* | -     | 1 | {to} /= {T}({k})                     | written({d.r}, {at}, over(read({d.r}, {at}), constant({f}, {r}, {c}, {k}))) | -
NFA | -     | 1 | {to} += {T}({k})                     | written({d.r}, {at}, plus(read({d.r}, {at}), constant({f}, {r}, {c}, {k}))) | -
NF* | -     | 1 | {to}.setConstant({T}({k}))           | written({d.r}, {at}, constant({f}, {r}, {c}, {k}))           | -
NFM | -     | 1 | {to}.setIdentity()                   | written({d.r}, {at}, identity({f}, {r}, {c}))                | -
NFA | -     | 1 | {to}.colwise() *= {v}                | written({d.r}, {at}, times(read({d.r}, {at}), spread({v}, {r}, {c}))) | v:?A r 1
NF* | -     | 2 | {to}.colwise() += {v}                | written({d.r}, {at}, plus(read({d.r}, {at}), spread({v}, {r}, {c}))) | v:?* r 1
NF* | -     | 2 | {to}.rowwise() -= {v}                | written({d.r}, {at}, minus(read({d.r}, {at}), spread({v}, {r}, {c}))) | v:?* 1 c
NF* | -     | 2 | {to} = {to}.reverse().eval()         | written({d.r}, {at}, turned(read({d.r}, {at}), 1, 1))        | -
NF* | -     | 1 | {to}.reverseInPlace()                | written({d.r}, {at}, turned(read({d.r}, {at}), 1, 1))        | -
NF* | -     | 2 | {to} = {to} + {x}                    | written({d.r}, {at}, plus(read({d.r}, {at}), {x}))           | x:?* r c
NF* | -     | 2 | {to} = ({to} * {k} - {x}).eval()     | written({d.r}, {at}, minus(times(read({d.r}, {at}), {k}), {x})) | x:?* r c
"""

# Statements that shift a destination of r rows and c columns within itself; it has r+i+1 rows, or is square.
SHIFTS = """
NF* | -     | 2 | {d.x}.template bottomRows<{R}>({r}) = {d.x}.template topRows<{R}>({r}).eval() | written({d.r}, part(places({d.r}), {i} + 1, 0, {r}, {c}), part({d.r}, 0, 0, {r}, {c})) | d:r+i+1 c
NF* | -     | 2 | {d.x}.template topRows<{R}>({r}) += {d.x}.template bottomRows<{R}>({r}).eval() | written({d.r}, part(places({d.r}), 0, 0, {r}, {c}), plus(part({d.r}, 0, 0, {r}, {c}), part({d.r}, {i} + 1, 0, {r}, {c}))) | d:r+i+1 c
NF* | -     | 2 | {d.x} = {d.x}.transpose().eval()     | transposed({d.r})                                            | d:r r
NF* | -     | 1 | {d.x}.transposeInPlace()             | transposed({d.r})                                            | d:r r
NF* | -     | 1 | {d.x}.row(0).swap({d.x}.row({i}))    | written(written({d.r}, part(places({d.r}), 0, 0, 1, {c}), part({d.r}, {i}, 0, 1, {c})), part(places({d.r}), {i}, 0, 1, {c}), part({d.r}, 0, 0, 1, {c})) | d:1+i+p c
NF* | -     | 1 | {d.x}.rowwise() += {d.x}.row({i}).eval() | stored(plus({d.r}, spread(part({d.r}, {i}, 0, 1, {c}), {d.r}.rows, {c}))) | d:1+i+p c
NM  | -     | 2 | SUM {d.x} = {d.x} * {x}              | product({d.r}, {x}, 1, {d.r}, 0)                             | d:r c, x:NM c c
NM  | -     | 2 | SUM {d.x} -= {x} * {d.x}             | product({x}, {d.r}, -1, {d.r}, 1)                            | d:r c, x:NM r r
"""

# Numbers: in the reference number 0 of a grid. `hasNaN()` compares an expression with itself, which would draw twice.
NUMBERS = """
N | -     | 4 | S | SUM {x}.sum()                          | stored(sums(in_column({x}), 1))                    | x:N* r c
N | float | 2 | float | SUM static_cast<float>(narrow::sum({x})) | sums(in_column({x}), 1)                      | x:NM r c
N | -     | 3 | S | {x}.maxCoeff()                             | largest(in_column({x}), 1)                         | x:N* r+1 c+1
N | -     | 3 | S | {x}.minCoeff()                             | smallest(in_column({x}), 1)                        | x:N* r+1 c+1
N | -     | 2 | S | SUM {x}.mean()                             | stored(over(stored(sums(in_column({x}), 1)), constant({n}, 1, 1, static_cast<double>({x}.numbers.size())))) | x:N* r+1 c+1
N | float | 2 | S | SUM {x}.squaredNorm()                      | stored(sums(square(in_column({x})), 1))            | x:NM r c
N | fixed | 2 | S | {x}.squaredNorm()                          | stored(product(transposed(in_column({x})), in_column({x}))) | x:NM r c
N | float | 2 | S | SUM {x}.norm()                             | stored(root(stored(sums(square(in_column({x})), 1)))) | x:NM r c
N | float | 2 | S | SUM {x}.prod()                             | products(in_column({x}), 1)                        | x:N* r+1 c+1
N | -     | 3 | S | SUM {x}.dot({y})                           | stored(product(transposed({x}), {y}))              | x:NM r 1, y:NM r 1
N | float | 1 | float | SUM ({x}.transpose() * {y})            | product(transposed({x}), {y})                      | x:NM r 1, y:NM r 1
N | -     | 1 | S | SUM {x}.trace()                            | stored(sums(diagonal({x}), 1))                     | x:NM r r
B | -     | 2 | Index | {b}.count()                            | counts(in_column({b}), 1)                          | b:BA r c
B | -     | 2 | bool | {b}.any()                               | any_holds(in_column({b}), 1)                       | b:BA r c
B | -     | 2 | bool | {b}.all()                               | all_hold(in_column({b}), 1)                        | b:BA r c
N | drawn | 2 | bool | {x}.eval().allFinite()                  | all_hold(in_column(both(opposite(is_nan({x})), opposite(is_infinite({x})))), 1) | x:N* r c
N | drawn | 2 | bool | {x}.eval().hasNaN()                     | any_holds(in_column(is_nan({x})), 1)               | x:N* r c
N | steady | 2 | bool | {x}.allFinite()                        | all_hold(in_column(both(opposite(is_nan({x})), opposite(is_infinite({x})))), 1) | x:N* r c
N | steady | 2 | bool | {x}.hasNaN()                           | any_holds(in_column(is_nan({x})), 1)               | x:N* r c
N | -     | 2 | Index | row_of_largest({x})                    | place({x}, 1)                                      | x:N* r+1 c+1
N | -     | 2 | Index | column_of_smallest({x})                | transposed(part(place({x}, 0), 0, 1, 1, 1))        | x:N* r+1 c+1
N | -     | 1 | S | {x}({x}.rows() - 1, 0)                     | stored(part({x}, {r}, 0, 1, 1))                    | x:N* r+1 c+1
"""
