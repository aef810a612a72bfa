"""What whoever runs the server sees of it, and the prompts that may be edited while it runs."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class ObservabilitySettings(BaseModel):
    """Without these nothing leaves the process, and the prompts are those of the code."""

    prompts_dir: Path | None = Field(
        None, description="放自己的提示词的文件夹，文件名同 agents/prompts/*.md，有哪个就换掉哪个；留空则都用自带的"
    )
    prompts_ttl: float = Field(5.0, ge=0, le=3600, description="改了提示词之后最多多少秒生效，不用重启")
