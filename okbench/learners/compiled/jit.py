from okbench.jit import Function as Function
from okbench.jit import compiled as compiled
